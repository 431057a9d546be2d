// SPDX-License-Identifier: Apache-2.0
// The driver: passes, kernels, program and memory plan, timed and gathered into one value.
#include "compiler/driver/compile.h"

#include "compiler/driver/compile_stages.h"
#include "compiler/driver/kernels.h"
#include "compiler/driver/machine_facts.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/passes/pass_config.h"
#include "core/base/clock.h"
#include "core/base/processors.h"
#include "core/base/user_folder.h"
#include "core/target/ignored_options.h"

#include <algorithm>
#include <chrono>

namespace tenon::compiler {
namespace {

using Clock = std::chrono::steady_clock;

/// All errors of the model as one: the first, with the others as notes.
Status modelErrors(const Loaded& loaded)
{
    std::vector<Diagnostic> errors;
    for (const Diagnostic& d : loaded.diagnostics)
        if (d.severity == Severity::Error) errors.push_back(d);
    if (errors.empty()) return kDone;
    Diagnostic first = errors.front();
    first.notes.insert(first.notes.end(), errors.begin() + 1, errors.end());
    return first;
}

/// Where an operator needs known shapes, the inputs that could be bound.
Diagnostic withBindings(Diagnostic error, const Module& module)
{
    if (error.code != DiagnosticCode::DynamicShape) return error;
    for (Diagnostic& note : dynamicInputErrors(module)) {
        note.severity = Severity::Note;
        error.notes.push_back(std::move(note));
    }
    return error;
}

Result<Target> supportedTarget(const std::string& text)
{
    auto target = parseTarget(text);
    if (!target) return target;
    if (Status generates = checkGenerates(*target); !generates) return generates.error();
    return target;
}

/// Memories of several kinds are for C source that the AOT executor calls.
std::vector<Diagnostic> poolRemarks(const CompileResult& result)
{
    std::vector<Diagnostic> out;
    if (result.machine.backEnd->sources && result.options.executor == ExecutorKind::Aot) return out;
    constexpr std::string_view kWhy = "only C source with the AOT executor has memories of its own";
    if (!result.options.workspacePools.empty()) out.push_back(noEffect("--workspace-pools", kWhy));
    if (!result.options.constantPools.empty()) out.push_back(noEffect("--constant-pools", kWhy));
    if (result.takesIo) out.push_back(noEffect("--use-workspace-io", kWhy));
    return out;
}

/// What the user shall know of the options: what nobody says, and what changes nothing.
std::vector<Diagnostic> remarksOn(const CompileResult& result, const PassConfig& config)
{
    std::vector<Diagnostic> out = ignoredOptions(result.target);
    for (Diagnostic& ignored : ignoredPassConfig(config)) out.push_back(std::move(ignored));
    for (Diagnostic& ignored : poolRemarks(result)) out.push_back(std::move(ignored));
    if (auto remark = result.threads.remark()) out.push_back(std::move(*remark));
    return out;
}

} // namespace

Result<PassConfig> prepare(CompileResult& result)
{
    const CompileOptions& options = result.options;
    auto target = supportedTarget(options.target);
    if (!target) return target.error();
    result.target = std::move(*target);
    auto config = parsePassConfig(options.passConfig);
    if (!config) return config.error();
    auto planner = configuredPlanner(*config, options.planner);
    if (!planner) return planner.error();
    auto machine = machineSpec(result.target);
    if (!machine) return machine.error();
    machine->vectorizes = !disablesVectors(*config);
    result.machine = std::move(*machine);
    auto known = machineFacts(result.target, result.machine);
    if (!known) return known.error();
    result.facts = known->facts;
    result.threads =
        chooseThreads(result.target, {.asked = options.runThreads,
                                      .thisComputer = usableProcessors(),
                                      .hasThreads = result.machine.backEnd->hasThreads});
    result.facts.threads = result.threads.count;
    result.takesIo = plansInputsAndOutputs(*config);
    result.remarks = remarksOn(result, *config);
    for (Diagnostic& remark : known->remarks) result.remarks.push_back(std::move(remark));
    result.options.planner = std::move(*planner);
    return config;
}

std::string defaultCacheFolder()
{
    const std::string cache = userFolder("XDG_CACHE_HOME", ".cache");
    return cache.empty() ? cache : cache + "/tenon/kernels";
}

namespace {

PassContext passContext(const CompileResult& result, const PassConfig& config, JobContext& job)
{
    constexpr double kPassesShare = 0.3; // kernels take the progress to 0.9
    return {.target = result.target,
            .facts = result.facts,
            .code = result.machine.backEnd->traits(result.machine),
            .optLevel = result.options.optLevel,
            .config = config,
            .job = &job,
            .progressShare = kPassesShare};
}

} // namespace

Status generate(CompileResult& result, const std::string& cacheFolder, KernelService& service,
                JobContext& job)
{
    const auto codegenStart = Clock::now();
    const Module wired = wiredModule(result);
    auto kernels = compileKernels(wired, result.machine, result.facts, cacheFolder, service, job);
    if (!kernels) return kernels.error();
    if (Status go = job.checkStop(); !go) return go.error();
    result.kernels = std::move(*kernels);
    result.phases.codegenMs = millisecondsSince(codegenStart);

    job.progress(0.92, "planning memory");
    const auto planStart = Clock::now();
    if (Status built = addProgram(result, wired); !built) return built.error();
    result.phases.planMs = millisecondsSince(planStart);
    return kDone;
}

Result<CompileResultPtr> compile(std::shared_ptr<const Loaded> loaded,
                                 const CompileOptions& options, JobContext& job, double importMs)
{
    return compile(std::move(loaded), options, job, importMs, nullptr);
}

Result<CompileResultPtr> compile(std::shared_ptr<const Loaded> loaded,
                                 const CompileOptions& options, JobContext& job, double importMs,
                                 ValueTrail* trail)
{
    const auto start = Clock::now();
    auto result = std::make_shared<CompileResult>();
    result->options = options;
    result->loaded = loaded;
    result->phases.importMs = importMs;
    if (Status fine = modelErrors(*loaded); !fine) return fine.error();
    auto config = prepare(*result);
    if (!config) return config.error();
    const PassContext context = passContext(*result, *config, job);
    const auto passesStart = Clock::now();
    auto trace = runPasses(loaded->module, context, options.passes, trail);
    if (!trace) return withBindings(trace.error(), loaded->module);
    result->passes = std::move(*trace);
    result->phases.passesMs = millisecondsSince(passesStart);
    if (options.stopBeforeCodegen || !options.passes.stopAfter.empty()) {
        result->phases.totalMs = importMs + millisecondsSince(start);
        return CompileResultPtr(result);
    }

    const auto service = options.service ? options.service : inProcessKernelService();
    if (Status built = generate(*result, options.cacheFolder, *service, job); !built)
        return built.error();
    result->phases.totalMs = importMs + millisecondsSince(start);
    if (Status go = job.checkStop(); !go) return go.error();
    return CompileResultPtr(result);
}

std::vector<Diagnostic> optionRemarks(const CompileOptions& options)
{
    CompileResult result;
    result.options = options;
    return prepare(result) ? result.remarks : std::vector<Diagnostic>();
}

std::vector<Diagnostic> refusalWarnings(const CompileResult& result)
{
    std::vector<Diagnostic> warnings;
    for (size_t i = 0; i < result.kernels.size(); ++i) {
        const CompiledKernel& kernel = result.kernels[i];
        if (kernel.refusal.empty()) continue;
        Location at{.detail = "kernel " + kernel.name};
        for (const KernelCall& call : result.program.calls)
            if (call.kernel == static_cast<int>(i) && at.node.empty() && !call.fromNodes.empty())
                at.node = call.fromNodes.front();
        warnings.push_back(makeWarning(
            DiagnosticCode::BadSchedule,
            "plain loops, which may be slow, because of the schedule rule " + kernel.refusal, at));
    }
    return warnings;
}

Result<std::string> kernelText(const CompileResult& result, size_t kernel, KernelText form)
{
    CHECK(kernel < result.kernels.size());
    const CompiledKernel& compiled = result.kernels[kernel];
    if (result.machine.backEnd->sources)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "the target is C source; there is no assembly, use --emit c");
    const auto service = result.options.service ? result.options.service : inProcessKernelService();
    return service->emitText(
        {TextRequest::Kind::Loops, compiled.loweredText, compiled.symbol, result.facts.vectorBytes,
         form == KernelText::LlvmIr ? EmitForm::LlvmIr : EmitForm::Assembly, result.machine});
}

} // namespace tenon::compiler
