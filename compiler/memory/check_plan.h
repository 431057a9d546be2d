// SPDX-License-Identifier: Apache-2.0
// The independent overlap checker: shares no code with the planners.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <vector>

namespace tenon::compiler {

/// Every fault of the plan: a buffer outside its pools or beyond a size hint, misaligned, or
/// sharing bytes with one that is live at the same time. Empty means that the plan is right.
std::vector<core::Diagnostic> checkPlan(const PlanningProblem& problem, const MemoryPlan& plan);

} // namespace tenon::compiler
