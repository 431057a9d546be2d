// SPDX-License-Identifier: Apache-2.0
// Kernels of one compile in another program: with taps between them, or each on inputs of its own.
#include "compiler/driver/compile_stages.h"
#include "compiler/driver/kernels.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {

Result<CompileResultPtr> rewired(const CompileResult& built, const Module& lowered, JobContext& job)
{
    auto result = std::make_shared<CompileResult>(built);
    result->passes.records.push_back(
        {.name = "rewired", .phase = "plan", .changed = true, .after = lowered});
    const Module wired = wiredModule(*result);
    const std::set<std::string> called = calledKernels(wired);
    const auto isCalled = [&](const CompiledKernel& kernel) {
        return called.contains(kernel.name);
    };
    const auto known = std::count_if(result->kernels.begin(), result->kernels.end(), isCalled);
    if (static_cast<size_t>(known) < called.size()) {
        const auto service =
            built.options.service ? built.options.service : inProcessKernelService();
        auto kernels = compileKernels(wired, result->machine, result->facts,
                                      built.options.cacheFolder, *service, job);
        if (!kernels) return kernels.error();
        result->kernels = std::move(*kernels);
    }
    std::erase_if(result->kernels, [&](const CompiledKernel& kernel) { return !isCalled(kernel); });
    if (Status done = addProgram(*result, wired); !done) return done.error();
    return CompileResultPtr(result);
}

} // namespace tenon::compiler
