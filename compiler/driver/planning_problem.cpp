// SPDX-License-Identifier: Apache-2.0
// A compile whose kernels stay empty: buffers and lifetimes come from the calls alone.
#include "compiler/driver/planning_problem.h"

#include "compiler/codegen/back_end.h"
#include "compiler/driver/compile_stages.h"

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

Result<CompileResultPtr> planOnly(const CompileResult& passes, JobContext& job)
{
    auto result = std::make_shared<CompileResult>(passes);
    result->options.stopBeforeCodegen = false;
    std::shared_ptr<KernelService> service = std::make_shared<NoKernels>();
    std::string cacheFolder;                     // empty kernels are nothing to keep
    if (result->machine.backEnd->lendsScratch) { // as much as the code says
        service = passes.options.service ? passes.options.service : inProcessKernelService();
        cacheFolder = passes.options.cacheFolder;
    }
    if (Status built = generate(*result, cacheFolder, *service, job); !built) return built.error();
    return CompileResultPtr(result);
}

Result<PlanningProblem> planningProblem(std::shared_ptr<const Loaded> loaded,
                                        CompileOptions options, JobContext& job)
{
    options.stopBeforeCodegen = true;
    auto passes = compile(std::move(loaded), options, job);
    if (!passes) return passes.error();
    auto result = planOnly(**passes, job);
    if (!result) return result.error();
    return (*result)->memory.problem;
}

} // namespace tenon::compiler
