// SPDX-License-Identifier: Apache-2.0
// One kernel of flat loop IR as a C99 function that a person can read.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <string>

namespace tenon::compiler {

struct CKernel
{
    /// `static void symbol(const float* restrict p0, ..., float* restrict out)`, with a last
    /// parameter `uint8_t* scratch` when scratchBytes is not 0.
    std::string text;
    int64_t scratchBytes = 0; ///< memory the caller lends it for the call
};

/// Errors: UnsupportedDtype, UnsupportedFeature, with the kernel's name.
core::Result<CKernel> emitCKernel(const tir::PrimFunc& lowered, const std::string& symbol);

/// Definitions of the small functions that kernel texts call, those in use only.
std::string cHelpers(const std::string& kernels);

} // namespace tenon::compiler
