// SPDX-License-Identifier: Apache-2.0
// What the glue of every executor starts with, and the checked packed signature.
#pragma once

#include "compiler/codegen/llvm/ir_text.h"
#include "compiler/executor/program.h"

namespace tenon::compiler {

/// Types, pointer variables with hidden aliases, and the support functions tenon.fail, tenon.check,
/// tenon.data and tenon.copy.
void addGlueSupport(IrText& ir);

/// The kernels' hidden symbols, each once.
void declareKernels(IrText& ir, const ExecutorProgram& program);

/// A %Signature for tenon.check: the tensors a packed function takes, in order.
std::string addSignature(IrText& ir, const ExecutorProgram& program, std::string_view function,
                         const std::vector<int>& tensors);

/// `define i32 @function(...)` up to the block in which the arguments are known to be right.
void beginPackedFunction(IrText& ir, std::string_view function, const std::string& signature);

/// Goes on where %status is not kTenonDividedByZero; else tells the text and returns.
void addFaultReturn(IrText& ir, const std::string& text);

/// The parts of a runtime that are the same wherever there is none: TVMAPISetLastError and
/// tenon_last_error, sequential launches, and `initialize`, which fills the pointer variables.
std::string aloneRuntimeText(std::string_view initialize);

/// Pointer variables that the runtime fills, by exported name.
inline constexpr std::string_view kRuntimePointers[] = {
    "__TVMAPISetLastError",        "__TVMBackendAllocWorkspace", "__TVMBackendFreeWorkspace",
    "__TVMBackendParallelBarrier", "__TVMBackendParallelLaunch",
};

} // namespace tenon::compiler
