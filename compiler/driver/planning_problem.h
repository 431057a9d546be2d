// SPDX-License-Identifier: Apache-2.0
// What the memory of a compiled program is planned from, without compiling its kernels.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/memory/live_bytes.h"

namespace tenon::compiler {

/// The program and plan of a compile that stopped before code generation, with empty kernels unless
/// the target wants memory for them. Errors: compile()'s.
Result<CompileResultPtr> planOnly(const CompileResult& passes, JobContext& job);
/// The problem whose plan compile() would give the program. Kernels are compiled only for targets
/// that want memory for them. Errors: compile()'s.
Result<PlanningProblem> planningProblem(std::shared_ptr<const Loaded> loaded,
                                        CompileOptions options, JobContext& job);

} // namespace tenon::compiler
