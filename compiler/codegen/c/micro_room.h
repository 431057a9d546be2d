// SPDX-License-Identifier: Apache-2.0
// Whether a model can fit a bare board at all, before anything is compiled for it.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/base/result.h"
#include "core/target/micro_core.h"

namespace tenon::compiler {

/// Weights against flash, planned memory with inputs and outputs against RAM. Error OutOfMemory
/// with both sums and, as notes, what is largest.
core::Status checkRoom(const SourceProgram& source, const core::MicroCore& core);

} // namespace tenon::compiler
