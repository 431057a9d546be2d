// SPDX-License-Identifier: Apache-2.0
// Memories with limits: constants in pools of their own, and what to say when pools are too small.
#pragma once

#include "compiler/executor/memory.h"

namespace tenon::compiler {

/// The largest constants first, each into the first pool that has room. Error OutOfMemory names
/// the largest.
core::Result<ConstantPlan> planConstants(const ExecutorProgram& program,
                                         const std::vector<Pool>& pools, int64_t alignment);

/// The error of a planner, with what the pools would have to hold, and the largest values at the
/// call that needs most.
core::Diagnostic withContributors(core::Diagnostic error, std::string_view algorithm,
                                  const PlanningProblem& problem, const ExecutorProgram& program);

} // namespace tenon::compiler
