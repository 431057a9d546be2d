// SPDX-License-Identifier: Apache-2.0
// CSV files of planning problems and plans, as minimalloc's benchmark writes them.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon::compiler {

struct PlanCsv
{
    PlanningProblem problem;
    std::optional<std::vector<int64_t>> offsets; ///< when the file has an `offset` column
};

/// Reads a header with the columns id, lower, upper, size (and optionally alignment, offset) in any
/// order, one buffer per row, live on [lower, upper). Alignment is 1 unless given. Errors name the
/// line.
core::Result<PlanCsv> readPlanCsv(std::string_view text);

/// Writes id,lower,upper,size,offset, preceded by a pool column when there are several pools.
std::string writePlanCsv(const PlanningProblem& problem, const MemoryPlan& plan);

} // namespace tenon::compiler
