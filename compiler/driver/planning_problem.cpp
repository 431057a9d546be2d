// SPDX-License-Identifier: Apache-2.0
// A compile whose kernels stay empty: buffers and lifetimes come from the calls alone.
#include "compiler/driver/planning_problem.h"

#include "compiler/codegen/back_end.h"

namespace tenon::compiler {
namespace {

/// Leaves every kernel empty: buffers and lifetimes come from the calls alone.
class NoKernels : public KernelService
{
public:
    Result<KernelProducts> compile(const tir::PrimFunc&, const std::string&, const MachineSpec&,
                                   const TargetFacts&) override
    {
        return KernelProducts();
    }
    Result<std::string> emitText(const TextRequest&) override { return notHere(); }
    Status link(const LinkRequest&) override { return notHere(); }

private:
    static Diagnostic notHere()
    {
        return makeError(DiagnosticCode::InternalBug, "a plan of memory has no code to show");
    }
};

} // namespace

Result<PlanningProblem> planningProblem(std::shared_ptr<const Loaded> loaded,
                                        CompileOptions options, JobContext& job)
{
    const auto target = parseTarget(options.target);
    const BackEnd* backEnd = target ? findBackEnd(*target) : nullptr;
    if (!backEnd || !backEnd->lendsScratch) { // else as much as the code says
        options.service = std::make_shared<NoKernels>();
        options.cacheFolder.clear(); // empty kernels are nothing to keep
    }
    auto result = compile(std::move(loaded), options, job);
    if (!result) return result.error();
    return (*result)->memory.problem;
}

} // namespace tenon::compiler
