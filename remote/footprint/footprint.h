// SPDX-License-Identifier: Apache-2.0
// What a model takes of a device, per executor: flash and RAM by what they hold.
#pragma once

#include "compiler/driver/compile.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::remote {

/// Bytes; -1 where it was not measured (the method says why).
struct FlashBytes
{
    int64_t kernels = 0;   ///< generated code, entry function included
    int64_t constants = 0; ///< weights
    int64_t metadata = 0;  ///< graph JSON, module blob, manifest, tables of symbols
    int64_t runtime = 0;   ///< everything else that an empty program does not have
    int64_t total() const { return kernels + constants + metadata + runtime; }
};

struct RamBytes
{
    int64_t workspace = 0;
    int64_t io = 0;      ///< inputs and outputs
    int64_t statics = 0; ///< variables of the runtime that an empty program does not have
    int64_t stack = -1;  ///< at its deepest
    int64_t heap = -1;   ///< at its highest, without the tensors counted above
    /// Without what was not measured.
    int64_t total() const
    {
        return workspace + io + statics + std::max<int64_t>(stack, 0) + std::max<int64_t>(heap, 0);
    }
};

/// Blocks of the heap that were taken for one purpose, at the moment when the heap was largest.
struct HeapUse
{
    std::string what; ///< "the graph as parsed"
    int64_t bytes = 0;
    int64_t blocks = 0;
};

struct ExecutorFootprint
{
    std::string executor; ///< "graph", "aot-packed", "aot-c"
    FlashBytes flash;
    RamBytes ram;
    std::string method;           ///< how the numbers came about, one sentence
    int64_t plannedBytes = 0;     ///< the planner's workspace
    std::string notMeasured = {}; ///< why there are no numbers; empty when there are
    /// What `ram.heap` is made of, largest first; empty where nobody counted that.
    std::vector<HeapUse> heapUses = {};
    /// Code by function, where it was linked function by function.
    std::map<std::string, int64_t> kernelBytes = {};
};

struct FootprintRequest
{
    std::shared_ptr<const compiler::Loaded> loaded;
    compiler::CompileOptions options; ///< target and planner; the executor is chosen here
    std::vector<std::string> executors = {"graph", "aot-packed", "aot-c"};
};

/// Compiles for each executor, links images and takes them apart. An executor that cannot be
/// measured for the target says why; the rest is still measured. Errors: BadArgument for an unknown
/// executor, and the model's own.
core::Result<std::vector<ExecutorFootprint>> measureFootprint(const FootprintRequest& request,
                                                              core::JobContext& job);

/// What a compile that is there tells without running anything: flash of the libraries it links to,
/// workspace as planned with the largest scratch of a kernel, inputs and outputs. The same numbers
/// as measureFootprint() gives; runtime, statics, stack and heap are -1. Executors of targets whose
/// libraries say nothing about sizes say why in notMeasured.
core::Result<std::vector<ExecutorFootprint>>
countFootprint(const compiler::CompileResultPtr& result, core::JobContext& job);

} // namespace tenon::remote
