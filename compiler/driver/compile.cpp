// SPDX-License-Identifier: Apache-2.0
// The driver: passes, kernels, program and memory plan, timed and gathered into one value.
#include "compiler/driver/compile.h"

#include "compiler/driver/compile_stages.h"
#include "compiler/driver/kernels.h"
#include "compiler/driver/machine_facts.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/executor/place_joins.h"
#include "compiler/ops/source_macs.h"
#include "compiler/passes/fuse/fusion_groups.h"
#include "compiler/passes/pass_config.h"
#include "core/base/clock.h"
#include "core/base/processors.h"
#include "core/base/user_folder.h"
#include "core/ir/tir/text.h"
#include "core/target/ignored_options.h"
#include "runtime/include/tenon/c_backend_api.h"

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

/// The source of every kernel, and the memory it wants to be lent.
Status writeKernels(CompileResult& result)
{
    for (size_t i = 0; i < result.kernels.size(); ++i) {
        CompiledKernel& kernel = result.kernels[i];
        auto lowered = tir::parsePrimFunc(kernel.loweredText);
        if (!lowered) return lowered.error();
        auto source = result.machine.backEnd->sources->writeKernel(*lowered, kernel.symbol);
        if (!source) {
            Diagnostic error = source.error();
            error.location.detail = "kernel " + kernel.name;
            return error;
        }
        kernel.object = std::make_shared<const std::string>(std::move(source->text));
        result.program.kernels[i].scratchBytes = source->scratchBytes;
    }
    return kDone;
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

namespace {

/// Names of the calls that only join.
std::set<std::string> joinsOf(const Module& lowered, const ExecutorProgram& program)
{
    std::set<std::string> joins;
    for (const KernelCall& call : program.calls) {
        const std::vector<NodeId>& members = lowered.function(lowered.node(call.node).callee).order;
        if (members.size() == 1 && joinsWholeTensors(lowered.node(members[0])))
            joins.insert(call.name);
    }
    return joins;
}

/// Kernels whose calls were all placed away; the others keep their order.
void dropUnusedKernels(CompileResult& result)
{
    std::vector<int> to(result.kernels.size(), -1);
    for (const KernelCall& call : result.program.calls) to[static_cast<size_t>(call.kernel)] = 0;
    size_t kept = 0;
    for (size_t k = 0; k < to.size(); ++k) {
        if (to[k] < 0) continue;
        to[k] = static_cast<int>(kept);
        if (kept != k) {
            result.kernels[kept] = std::move(result.kernels[k]);
            result.program.kernels[kept] = std::move(result.program.kernels[k]);
        }
        ++kept;
    }
    result.kernels.resize(kept);
    result.program.kernels.resize(kept);
    for (KernelCall& call : result.program.calls)
        call.kernel = to[static_cast<size_t>(call.kernel)];
}

void addMacs(CompileResult& result)
{
    const Module& lowered = result.passes.last();
    const auto macs = SourceMacs(result.passes.imported).in(lowered);
    for (KernelCall& call : result.program.calls) {
        const NodePtr& node = lowered.findNode(call.node);
        if (!node || !node->callee.isValid()) continue;
        for (const NodeId member : lowered.function(node->callee).order)
            if (const auto found = macs.find(member); found != macs.end())
                call.macs += found->second;
    }
}

/// A runtime takes so many inputs or outputs, of so many dimensions.
Status checkTaken(const ExecutorProgram& program, const std::vector<int>& tensors, const char* what)
{
    if (tensors.size() > TENON_MOST_TENSORS)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "the model has " + std::to_string(tensors.size()) + " " + what +
                             "s; a runtime takes at most " + std::to_string(TENON_MOST_TENSORS));
    for (const int index : tensors) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(index)];
        if (tensor.shape.size() > TENON_MOST_DIMS)
            return makeError(
                DiagnosticCode::UnsupportedFeature,
                std::string("an ") + what + " has " + std::to_string(tensor.shape.size()) +
                    " dimensions; a runtime takes at most " + std::to_string(TENON_MOST_DIMS),
                {.detail = tensor.name});
    }
    return kDone;
}

Status checkTaken(const ExecutorProgram& program)
{
    if (Status taken = checkTaken(program, program.inputs, "input"); !taken) return taken;
    return checkTaken(program, program.outputs, "output");
}

/// Where values lie, and with C source in which of its memories.
Status addMemory(CompileResult& result)
{
    const BackEnd& backEnd = *result.machine.backEnd;
    const int64_t alignment =
        backEnd.workspaceAlignment ? backEnd.workspaceAlignment(result.target) : 64;
    MemoryRequest request{.alignment = alignment};
    if (result.options.executor == ExecutorKind::Aot && backEnd.sources) {
        if (!result.options.workspacePools.empty()) request.pools = result.options.workspacePools;
        request.constantPools = result.options.constantPools;
        request.constantAlignment = backEnd.constantsAlignment(result.target);
        request.takesIo = result.takesIo;
    }
    auto memory = planProgram(result.program, result.options.planner, request);
    if (!memory) return memory.error();
    result.memory = std::move(*memory);
    return kDone;
}

/// The program of the chosen executor and its memory plan. Only the VM takes memory at run time; a
/// module that needs it gets it whatever was chosen.
Status addProgram(CompileResult& result)
{
    const Module& lowered = result.passes.last();
    if (result.options.executor != ExecutorKind::Vm) {
        result.vmReason = vmReason(lowered);
        if (!result.vmReason.empty()) result.options.executor = ExecutorKind::Vm;
    }
    const bool isVm = result.options.executor == ExecutorKind::Vm;
    if (isVm) {
        auto vm = buildVmProgram(lowered, result.kernels, result.options.planner);
        if (!vm) return vm.error();
        result.program = std::move(vm->program);
        result.memory = std::move(vm->memory);
    } else {
        auto program = buildProgram(lowered, result.kernels);
        if (!program) return program.error();
        result.program = std::move(*program);
    }
    if (Status taken = checkTaken(result.program); !taken) return taken;
    addMacs(result);
    for (size_t i = 0; i < result.kernels.size(); ++i)
        result.kernels[i].function = result.program.kernels[i].function;
    const BackEnd& backEnd = *result.machine.backEnd;
    if (backEnd.sources && !backEnd.runs(result.options.executor))
        return makeError(
            DiagnosticCode::UnsupportedFeature,
            "the vm executor needs a target of kind llvm, but the model needs the vm: " +
                (result.vmReason.empty() ? "it was asked for" : result.vmReason));
    if (result.options.executor == ExecutorKind::Aot) {
        placeJoins(result.program, joinsOf(lowered, result.program));
        dropUnusedKernels(result);
    }
    if (backEnd.sources)
        if (Status written = writeKernels(result); !written) return written;
    if (isVm) return kDone;
    return addMemory(result);
}

} // namespace

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
    auto kernels = compileKernels(result.passes.last(), result.machine, result.facts, cacheFolder,
                                  service, job);
    if (!kernels) return kernels.error();
    if (Status go = job.checkStop(); !go) return go.error();
    result.kernels = std::move(*kernels);
    result.phases.codegenMs = millisecondsSince(codegenStart);

    job.progress(0.92, "planning memory");
    const auto planStart = Clock::now();
    if (Status built = addProgram(result); !built) return built.error();
    result.phases.planMs = millisecondsSince(planStart);
    return kDone;
}

Result<CompileResultPtr> compile(std::shared_ptr<const Loaded> loaded,
                                 const CompileOptions& options, JobContext& job, double importMs)
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
    auto trace = runPasses(loaded->module, context, options.passes);
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
