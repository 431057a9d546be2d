// SPDX-License-Identifier: GPL-3.0-or-later
// From the compiler's memory plans to the window's.
#pragma once

#include "compiler/executor/memory.h"
#include "views/models/memory_plan.h"

namespace tenon::app {

/// Everything about `memory`, and what the other planners make of the same problem.
views::MemoryPlan memoryPlanOf(const compiler::ExecutorProgram& program,
                               const compiler::ProgramMemory& memory);

/// Plans the same lifetimes anew. Errors: BadArgument for the pools, UnknownName for the planner,
/// OutOfMemory when the pools are too small.
core::Result<views::MemoryPlan> planAgain(const compiler::ExecutorProgram& program,
                                          const compiler::ProgramMemory& memory,
                                          const views::MemoryQuestion& question);

} // namespace tenon::app
