// SPDX-License-Identifier: Apache-2.0
// A user's own kernel: one function of loop IR as a library that any program can load and call.
#pragma once

#include "compiler/driver/compile.h"

namespace tenon::compiler {

/// The function as a program that calls it once: inputs and outputs are its parameters, a library's
/// packed function has its name. Loops are compiled as they are written; whoever wants the schedule
/// rules' applies scheduleKernel() first. Of the options, target, cache and threads count; the
/// executor is the first that the target's code has in this format.
/// Errors: BadArgument for a name that no symbol can have and for one that artifacts use
/// themselves, DynamicShape for sizes that are not constant; what compile() says of the target.
Result<CompileResultPtr> compileFunction(const tir::PrimFunc& function, OutputFormat format,
                                         const CompileOptions& options, JobContext& job);

} // namespace tenon::compiler
