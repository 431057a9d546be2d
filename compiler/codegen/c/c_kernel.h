// SPDX-License-Identifier: Apache-2.0
// One kernel of flat loop IR as a C99 function that a person can read.
#pragma once

#include "compiler/codegen/kernel_source.h"
#include "core/base/result.h"

#include <string>

namespace tenon::compiler {

/// `static void symbol(const float* restrict p0, ..., float* restrict out)`, with a last parameter
/// `uint8_t* scratch` when scratchBytes is not 0. Errors: UnsupportedDtype, UnsupportedFeature,
/// with the kernel's name.
/// Where the function's attribute `vector_bytes` is 16, arithmetic of vectors is Helium's.
core::Result<SourceKernel> emitCKernel(const tir::PrimFunc& lowered, const std::string& symbol);

/// Definitions of the functions that sums of widened words call.
std::string cWordDots(const std::string& kernels);

/// Definitions of the small functions that kernel texts call, those in use only.
std::string cHelpers(const std::string& kernels);

} // namespace tenon::compiler
