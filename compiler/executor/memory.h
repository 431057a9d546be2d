// SPDX-License-Identifier: Apache-2.0
// Memory of a program: lifetimes of its intermediates, their static plan, and storage ids.
#pragma once

#include "compiler/executor/program.h"
#include "compiler/memory/memory_plan.h"

#include <vector>

namespace tenon::compiler {

/// Where constants lie in pools of their own.
struct ConstantPlan
{
    std::vector<Pool> pools;           ///< none: they are not pooled
    std::vector<Placement> placements; ///< by tensor; no pool for what is no constant of its own
    std::vector<int64_t> bytes;        ///< of each pool, padded as C pads structs of its types
};

/// Where a program's intermediates lie in its workspace pool (program points are calls).
struct ProgramMemory
{
    PlanningProblem problem;
    MemoryPlan plan;
    std::vector<int> bufferOf;  ///< tensor -> buffer of its memory owner, or -1
    std::vector<int> tensorOf;  ///< buffer -> tensor that owns the memory, -1 for scratch
    std::vector<int> scratchOf; ///< call -> buffer of its kernel's scratch memory, or -1
    std::vector<int> outputOf;  ///< output -> buffer, where outputs are planned, too; else empty
    ConstantPlan constants;     ///< where constants are pooled
    int atRunTime = 0;          ///< values that a VM program takes memory for while it runs

    int64_t workspaceBytes() const { return plan.totalBytes(); }
    /// Inputs and outputs lie in the workspace.
    bool hasIo() const { return !outputOf.empty(); }
    const Pool& poolOf(int buffer) const
    {
        return problem
            .pools[static_cast<size_t>(plan.placements[static_cast<size_t>(buffer)].pool)];
    }
};

/// What memory there is, and for what.
struct MemoryRequest
{
    int64_t alignment = 64;
    std::vector<Pool> pools = {Pool{}};
    bool takesIo = false; ///< inputs and outputs are planned with what lies between them
    std::vector<Pool> constantPools = {}; ///< none: constants lie one by one
    int64_t constantAlignment = 16;
};

/// For each output: true when its memory owner is written straight into the caller's tensor; others
/// (inputs, constants, parts, the same value a second time) are copied at the end.
std::vector<bool> directOutputs(const ExecutorProgram& program);

/// Plans every intermediate that is not a direct output, the scratch memory of kernels, and what
/// else the request names. Error OutOfMemory where pools are too small, with what is largest where
/// most is needed.
core::Result<ProgramMemory> planProgram(const ExecutorProgram& program, std::string_view algorithm,
                                        const MemoryRequest& request = {});

/// Storage ids of the graph executor, which knows only whole storages: a storage is free again when
/// every tensor in it has been read. Inputs, constants and outputs are never reused afterwards.
struct StoragePlan
{
    std::vector<int> storageOf; ///< tensor -> storage id; views share their owner's
    std::vector<int64_t> bytes; ///< storage id -> size
};
StoragePlan planStorage(const ExecutorProgram& program);

} // namespace tenon::compiler
