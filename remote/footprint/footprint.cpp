// SPDX-License-Identifier: Apache-2.0
// One footprint per executor that the target has.
#include "remote/footprint/footprint.h"

#include "core/base/text.h"
#include "remote/footprint/image.h"

#include <algorithm>

namespace tenon::remote {

using core::DiagnosticCode;
using core::Result;

namespace {

/// Why the executor has no image for this kind of target; null when it has.
const char* missingReason(const std::string& executor, const core::Target& target)
{
    const compiler::BackEnd* backEnd = compiler::findBackEnd(target);
    if (!backEnd) return nullptr; // compiling says so
    if (backEnd->runnable() == compiler::OutputFormat::WasmModule)
        return "a WebAssembly module's memory is counted by its engine; footprints are those of "
               "Cortex-M and of boards with Linux";
    if (!backEnd->sources && executor == "aot-c")
        return "structs of pointers are an interface of C source; use --target c";
    return nullptr;
}

Result<ExecutorFootprint> measureOne(const FootprintRequest& request, const std::string& executor,
                                     core::JobContext& job)
{
    compiler::CompileOptions options = request.options;
    // What is compared has its memory in one piece and its inputs and outputs with the caller.
    options.workspacePools.clear();
    options.constantPools.clear();
    std::erase_if(options.passConfig, [](const std::string& key) {
        return key.starts_with("tir.usmp.use_workspace_io");
    });
    options.executor =
        executor == "graph" ? compiler::ExecutorKind::Graph : compiler::ExecutorKind::Aot;
    const auto result = compiler::compile(request.loaded, options, job);
    if (!result) return result.error();
    if ((*result)->options.executor == compiler::ExecutorKind::Vm) {
        ExecutorFootprint none;
        none.notMeasured = "the model needs the vm executor: " + (*result)->vmReason;
        return none;
    }
    if (!(*result)->machine.backEnd->sources) return measureLibrary(**result);
    const auto interface =
        executor == "aot-c" ? compiler::CInterface::Structs : compiler::CInterface::Packed;
    return measureMicroImage(**result, interface);
}

/// The compile as it is for another executor; where that leaves calls out, all over again.
Result<compiler::CompileResultPtr> compiledFor(const compiler::CompileResultPtr& result,
                                               compiler::ExecutorKind executor,
                                               core::JobContext& job)
{
    if (result->options.executor == executor) return result;
    const core::Module& lowered = result->passes.last();
    const auto calls = std::count_if(
        lowered.main().order.begin(), lowered.main().order.end(),
        [&](core::NodeId id) { return lowered.node(id).kind == core::NodeKind::CallTir; });
    if (static_cast<size_t>(calls) != result->program.calls.size()) {
        compiler::CompileOptions options = result->options;
        options.executor = executor;
        return compiler::compile(result->loaded, options, job);
    }
    auto other = std::make_shared<compiler::CompileResult>(*result);
    other->options.executor = executor;
    return compiler::CompileResultPtr(other);
}

Result<ExecutorFootprint> countOne(const compiler::CompileResultPtr& result,
                                   compiler::ExecutorKind executor, core::JobContext& job)
{
    const auto compiled = compiledFor(result, executor, job);
    if (!compiled) return compiled.error();
    return countLibrary(**compiled);
}

} // namespace

Result<std::vector<ExecutorFootprint>> countFootprint(const compiler::CompileResultPtr& result,
                                                      core::JobContext& job)
{
    using compiler::ExecutorKind;
    std::vector<ExecutorFootprint> out;
    for (const auto& [name, executor] :
         {std::pair{"graph", ExecutorKind::Graph}, std::pair{"aot-packed", ExecutorKind::Aot}}) {
        if (core::Status go = job.checkStop(); !go) return go.error();
        ExecutorFootprint one;
        if (const char* reason = missingReason(name, result->target)) {
            one.notMeasured = reason;
        } else if (result->options.executor == ExecutorKind::Vm) {
            one.notMeasured = "the model needs the vm executor: " + result->vmReason;
        } else {
            auto counted = countOne(result, executor, job);
            if (!counted && counted.error().code != DiagnosticCode::UnsupportedFeature)
                return counted.error();
            if (counted)
                one = std::move(*counted);
            else
                one.notMeasured = counted.error().message;
        }
        one.executor = name;
        out.push_back(std::move(one));
    }
    return out;
}

Result<std::vector<ExecutorFootprint>> measureFootprint(const FootprintRequest& request,
                                                        core::JobContext& job)
{
    const auto target = core::parseTarget(request.options.target);
    if (!target) return target.error();
    std::vector<ExecutorFootprint> out;
    for (const std::string& executor : request.executors) {
        if (executor != "graph" && executor != "aot-packed" && executor != "aot-c")
            return core::makeError(DiagnosticCode::BadArgument,
                                   core::quoted(executor) +
                                       " is no executor; choose among graph, aot-packed, aot-c");
        if (core::Status go = job.checkStop(); !go) return go.error();
        ExecutorFootprint one;
        if (const char* reason = missingReason(executor, *target)) {
            one.notMeasured = reason;
        } else {
            Result<ExecutorFootprint> measured = measureOne(request, executor, job);
            if (measured)
                one = std::move(*measured);
            else if (measured.error().code == DiagnosticCode::UnsupportedFeature)
                one.notMeasured = measured.error().message; // of this executor; others may do
            else
                return measured.error();
        }
        one.executor = executor;
        out.push_back(std::move(one));
    }
    return out;
}

} // namespace tenon::remote
