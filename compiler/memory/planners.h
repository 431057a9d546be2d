// SPDX-License-Identifier: Apache-2.0
// The planners behind allPlanners(), and what they share.
#pragma once

#include "compiler/memory/memory_plan.h"

namespace tenon::compiler {

core::Result<PlannedBuffers> placeGreedyBySize(const PlanningProblem& problem,
                                               const PlannerLimits& limits);
core::Result<PlannedBuffers> placeGreedyByConflicts(const PlanningProblem& problem,
                                                    const PlannerLimits& limits);
core::Result<PlannedBuffers> placeHillClimb(const PlanningProblem& problem,
                                            const PlannerLimits& limits);
core::Result<PlannedBuffers> placeExact(const PlanningProblem& problem,
                                        const PlannerLimits& limits);
core::Result<PlannedBuffers> placeApart(const PlanningProblem& problem,
                                        const PlannerLimits& limits);
core::Result<PlannedBuffers> placeLinearScan(const PlanningProblem& problem,
                                             const PlannerLimits& limits);

/// Buffers by size, then number of conflicts, then name, all descending; and with the first two
/// exchanged.
std::vector<int> orderBySize(const PlanningProblem& problem);
std::vector<int> orderByConflicts(const PlanningProblem& problem);

/// The pools buffer `index` may lie in, most wanted first.
std::vector<int> candidatePools(const PlanningProblem& problem, int index);
bool fits(const Pool& pool, int64_t endBytes);
int64_t roundUp(int64_t value, int64_t multiple);

/// "the space available in the provided pools exceeded ..." for this buffer.
core::Diagnostic poolsExceeded(const BufferInfo& buffer);

} // namespace tenon::compiler
