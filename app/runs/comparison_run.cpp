// SPDX-License-Identifier: Apache-2.0
// References by what they are called, and the two sides that run.
#include "app/runs/comparison_run.h"

#include "app/runs/data_sets.h"
#include "app/runs/ort_reference.h"
#include "compiler/compare/quantized_alike.h"
#include "compiler/compare/real_inputs.h"
#include "compiler/compare/tensor_names.h"
#include "core/base/text.h"
#include "remote/peer/peer.h"

#include <filesystem>

namespace tenon::runs {

namespace {

namespace fs = std::filesystem;

/// What the device is compared with, and how that is called.
struct NamedSource
{
    compiler::ReferenceSource source;
    std::string name;
    bool isOtherModel = false; ///< which rounds elsewhere, or nowhere
    bool isFile = false;       ///< who knows how its tensors were summed
};

/// On this computer, by one thread.
compiler::CompileOptions plainOptions(const compiler::CompileOptions& options)
{
    compiler::CompileOptions out;
    out.planner = options.planner;
    out.optLevel = options.optLevel;
    out.cacheFolder = options.cacheFolder;
    out.service = options.service;
    out.runThreads = 1;
    return out;
}

bool holdsTensors(const std::string& path)
{
    const std::string suffix = fs::path(path).extension().string();
    return suffix == ".npz" || suffix == ".npy" || suffix == ".pb" || modelAt(path).empty();
}

Result<NamedSource> fileReference(const std::string& path, const ComparedModel& model)
{
    if (model.sets.size() > 1)
        return makeError(DiagnosticCode::BadArgument,
                         "tensors of a file stand for one data set, but there are " +
                             std::to_string(model.sets.size()) + "; choose one with --inputs");
    auto names = compiler::tensorNames(*model.loaded, model.path);
    if (!names) return names.error();
    auto tensors = readTensors({path});
    if (!tensors) return tensors.error();
    return NamedSource{compiler::namedReference(std::move(*names), *tensors),
                       "the tensors of " + path, false, true};
}

Result<NamedSource> otherModel(const ComparisonQuestion& question, const ComparedModel& model,
                               const compiler::ProgramRunner& here)
{
    const std::string path = modelAt(question.reference);
    compiler::ImportOptions bindings = question.data.bindings;
    auto loaded = loadForData(path, model.sets.front(), bindings);
    if (!loaded) return loaded.error();
    const auto other = std::make_shared<const compiler::Loaded>(std::move(*loaded));
    auto names = compiler::tensorNames(*model.loaded, model.path);
    if (!names) return names.error();
    const auto theirs = compiler::tensorNames(*other, path);
    if (!theirs) return theirs.error();
    auto source = compiler::modelReference(std::move(*names), other, *theirs,
                                           plainOptions(question.options), here);
    return NamedSource{compiler::onInputsOf(model.loaded, other, std::move(source)),
                       path + " at level 0 on this computer",
                       !compiler::areQuantizedAlike(model.loaded->module, other->module)};
}

compiler::NoiseSources noiseOf(const ComparisonQuestion& question, const ComparedModel& model,
                               const compiler::ProgramRunner& here)
{
    const compiler::CompileOptions plain = plainOptions(question.options);
    compiler::NoiseSources out{{}, compiler::reversedReference(*model.loaded, plain, here)};
    if (question.reference != "opt0")
        out.forwards = compiler::levelZeroReference(model.loaded, plain, here);
    return out;
}

Result<NamedSource> byOnnxRuntime(const ComparedModel& model)
{
    auto names = compiler::tensorNames(*model.loaded, model.path);
    if (!names) return names.error();
    auto source = ortReference(std::move(*names), model.path, remote::libraryOfPeer());
    if (!source) return source.error();
    return NamedSource{std::move(*source), "ONNX Runtime on this computer"};
}

Result<NamedSource> referenceOf(const ComparisonQuestion& question, const ComparedModel& model,
                                const compiler::ProgramRunner& here)
{
    if (question.reference == "opt0")
        return NamedSource{
            compiler::levelZeroReference(model.loaded, plainOptions(question.options), here),
            "level 0 on this computer"};
    if (question.reference == "onnxruntime") return byOnnxRuntime(model);
    if (holdsTensors(question.reference)) return fileReference(question.reference, model);
    return otherModel(question, model, here);
}

} // namespace

Result<Comparison> runComparison(const ComparisonQuestion& question, const ComparedModel& model,
                                 JobContext& job)
{
    if (model.sets.empty()) { // the model has errors: compiling tells them all
        const auto built = compiler::compile(model.loaded, question.options, job);
        if (!built) return built.error();
        return makeError(DiagnosticCode::BadArgument, "there are no data to compare with");
    }
    ProgramRuns device(question.place);
    ProgramRuns here({.threads = 1, .timeout = question.place.timeout});
    const auto runnerOf = [](ProgramRuns& runs) {
        return
            [&runs](const compiler::CompileResultPtr& program, const compiler::NamedValues& inputs,
                    JobContext& work) { return runs.run(program, inputs, work); };
    };
    const auto reference = referenceOf(question, model, runnerOf(here));
    if (!reference) return reference.error();
    ErrorLimits limits = question.limits;
    limits.isOtherModel = reference->isOtherModel;
    limits.holdsToRounding &= !reference->isFile;
    compiler::CompareRequest request{.loaded = model.loaded,
                                     .options = question.options,
                                     .sets = model.sets,
                                     .limits = limits,
                                     .device = runnerOf(device),
                                     .reference = reference->source,
                                     .pieceBytes = question.pieceBytes,
                                     .isolates = question.isolates,
                                     .keep = question.keep};
    if (question.measuresNoise) request.noise = noiseOf(question, model, runnerOf(here));
    auto out = compiler::compareTensors(request, job);
    if (!out) return out;
    out->place = device.place();
    out->reference = reference->name;
    return out;
}

} // namespace tenon::runs
