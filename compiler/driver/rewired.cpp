// SPDX-License-Identifier: Apache-2.0
// Kernels of one compile in another program: with taps between them, or each on inputs of its own.
#include "compiler/driver/compile_stages.h"
#include "compiler/driver/kernels.h"
#include "compiler/passes/fuse/item_kernels.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

/// Names of the kernels that the open functions of the module call.
std::set<std::string> calledKernels(const Module& lowered)
{
    std::set<std::string> out;
    for (const auto& [id, function] : lowered.functions()) {
        if (function->attrs.integer("primitive", 0) != 0) continue;
        for (const NodeId nodeId : function->order) {
            const NodeRecord& node = lowered.node(nodeId);
            if (node.kind != NodeKind::CallTir || node.kernel == kNopKernel) continue;
            out.insert(node.kernel);
            for (const std::string& chunk : node.attrs.strings(kChunkKernelsAttr, {}))
                out.insert(chunk);
        }
    }
    return out;
}

} // namespace

Result<CompileResultPtr> rewired(const CompileResult& built, const Module& lowered, JobContext& job)
{
    auto result = std::make_shared<CompileResult>(built);
    result->passes.records.push_back(
        {.name = "rewired", .phase = "plan", .changed = true, .after = lowered});
    const std::set<std::string> called = calledKernels(lowered);
    const auto isCalled = [&](const CompiledKernel& kernel) {
        return called.contains(kernel.name);
    };
    const auto known = std::count_if(result->kernels.begin(), result->kernels.end(), isCalled);
    if (static_cast<size_t>(known) < called.size()) {
        const auto service =
            built.options.service ? built.options.service : inProcessKernelService();
        auto kernels = compileKernels(lowered, result->machine, result->facts,
                                      built.options.cacheFolder, *service, job);
        if (!kernels) return kernels.error();
        result->kernels = std::move(*kernels);
    }
    std::erase_if(result->kernels, [&](const CompiledKernel& kernel) { return !isCalled(kernel); });
    if (Status done = addProgram(*result); !done) return done.error();
    return CompileResultPtr(result);
}

} // namespace tenon::compiler
