// SPDX-License-Identifier: Apache-2.0
// Memory of a program: lifetimes of its intermediates, their static plan, and storage ids.
#pragma once

#include "compiler/executor/program.h"
#include "compiler/memory/memory_plan.h"

#include <vector>

namespace tenon::compiler {

/// Where a program's intermediates lie in its workspace pool (program points are calls).
struct ProgramMemory
{
    PlanningProblem problem;
    MemoryPlan plan;
    std::vector<int> bufferOf;  ///< tensor -> buffer of its memory owner, or -1
    std::vector<int> tensorOf;  ///< buffer -> tensor that owns the memory, -1 for scratch
    std::vector<int> scratchOf; ///< call -> buffer of its kernel's scratch memory, or -1
    int atRunTime = 0;          ///< values that a VM program takes memory for while it runs

    int64_t workspaceBytes() const { return plan.totalBytes(); }
};

/// For each output: true when its memory owner is written straight into the caller's tensor; others
/// (inputs, constants, parts, the same value a second time) are copied at the end.
std::vector<bool> directOutputs(const ExecutorProgram& program);

/// Plans every intermediate that is not a direct output, and the scratch memory of kernels, with
/// the named planner.
core::Result<ProgramMemory> planProgram(const ExecutorProgram& program, std::string_view algorithm,
                                        int64_t alignment = 64);

/// Storage ids of the graph executor, which knows only whole storages: a storage is free again when
/// every tensor in it has been read. Inputs, constants and outputs are never reused afterwards.
struct StoragePlan
{
    std::vector<int> storageOf; ///< tensor -> storage id; views share their owner's
    std::vector<int64_t> bytes; ///< storage id -> size
};
StoragePlan planStorage(const ExecutorProgram& program);

} // namespace tenon::compiler
