// SPDX-License-Identifier: Apache-2.0
// Data sets beside a model, given ones, or made-up inputs.
#include "app/runs/compared_model.h"

#include "app/runs/data_bindings.h"
#include "app/runs/data_sets.h"
#include "app/runs/read_inputs.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/open_sizes.h"
#include "core/base/text.h"
#include "core/ir/size_bounds.h"
#include "remote/measure/made_up_inputs.h"

#include <filesystem>

namespace tenon::runs {

namespace {

namespace fs = std::filesystem;

std::vector<ManifestTensor> inputsOf(const Module& module)
{
    std::vector<ManifestTensor> out;
    for (const NodeId id : module.main().params) {
        const NodeRecord& input = module.node(id);
        ManifestTensor tensor{.name = input.name, .dtype = input.types[0].dtype.text()};
        for (const Dim& dim : input.types[0].shape) {
            tensor.shape.push_back(dim.constant().value_or(-1));
            tensor.dims.push_back(dim.text());
        }
        out.push_back(std::move(tensor));
    }
    return out;
}

Diagnostic note(const std::string& text)
{
    return {Severity::Note, DiagnosticCode::BadArgument, text, {}, {}};
}

Result<std::vector<GivenTensors>> givenSets(const ComparedData& data, const std::string& model)
{
    std::vector<GivenTensors> out;
    std::vector<std::string> files;
    const fs::path beside = fs::path(model).parent_path();
    for (const std::string& path :
         data.inputs.empty() ? dataSetsIn(beside.string()) : data.inputs) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            files.push_back(path);
            continue;
        }
        // A folder of data sets stands for all of them.
        std::vector<std::string> folders = dataSetsIn(path);
        if (folders.empty()) folders.push_back(path);
        for (const std::string& folder : folders) {
            auto set = readTensors({folder});
            if (!set) return set.error();
            out.push_back(std::move(*set));
        }
    }
    if (files.empty()) return out;
    auto set = readTensors(files);
    if (!set) return set.error();
    out.push_back(std::move(*set));
    return out;
}

Result<ComparedModel> openWithData(const ComparedData& data, const std::string& model,
                                   const std::vector<GivenTensors>& given)
{
    compiler::ImportOptions bindings = data.bindings;
    auto loaded = loadForData(model, given.front(), bindings);
    if (!loaded) return loaded.error();
    ComparedModel out{model, std::make_shared<const compiler::Loaded>(std::move(*loaded)), {}, {}};
    const std::vector<ManifestTensor> inputs = inputsOf(out.loaded->module);
    for (const GivenTensors& set : given) {
        auto values = assignInputs(inputs, withoutFixed(out.loaded->facts, set, bindings));
        if (!values && out.sets.empty()) return foundIn(values.error(), data.inputs);
        if (values) {
            for (Diagnostic& note : notesOnValues(*values)) out.notes.push_back(std::move(note));
            out.sets.push_back(std::move(*values));
        } else // its sizes are others than those the model was bound to
            out.notes.push_back(
                makeWarning(values.error().code, "data set " + std::to_string(&set - given.data()) +
                                                     " is left out: " + values.error().message));
    }
    return out;
}

Result<compiler::Loaded> loaded(const ComparedData& data, const std::string& model)
{
    if (data.staysOpen) return compiler::loadModel(model, data.bindings);
    return compiler::loadForBuild(model, data.bindings);
}

Result<ComparedModel> openWithoutData(const ComparedData& data, const std::string& model)
{
    auto read = loaded(data, model);
    if (!read) {
        Diagnostic error = read.error();
        // A model that cannot be opened is bad input, not a failed operation.
        if (error.code == DiagnosticCode::IoFailure) error.code = DiagnosticCode::BadModel;
        return error;
    }
    ComparedModel out{model, std::make_shared<const compiler::Loaded>(std::move(*read)), {}, {}};
    if (hasErrors(out.loaded->diagnostics)) return out; // which compiling tells
    Manifest manifest;
    manifest.inputs = inputsOf(out.loaded->module);
    manifest.bounds = boundsOf(out.loaded->module.main());
    auto values = remote::madeUpInputs(manifest);
    if (!values) return withProposal(values.error(), model, *out.loaded, data.bindings);
    out.sets.push_back(std::move(*values));
    out.notes.push_back(note("no data set lies beside the model and no inputs were given; the "
                             "inputs are made up"));
    return out;
}

} // namespace

std::string modelAt(const std::string& path)
{
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? modelIn(path) : path;
}

Result<ComparedModel> openCompared(const ComparedData& data)
{
    const std::string model = modelAt(data.model);
    if (model.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "the folder holds no model (model.onnx, model.tflite)",
                         {.file = data.model});
    const auto given = givenSets(data, model);
    if (!given) return given.error();
    return given->empty() ? openWithoutData(data, model) : openWithData(data, model, *given);
}

Diagnostic withProposal(Diagnostic error, const std::string& path, const compiler::Loaded& loaded,
                        const compiler::ImportOptions& bindings)
{
    if (!error.location.node.empty() && error.location.file.empty()) error.location.file = path;
    if (error.code == DiagnosticCode::Cancelled || error.code == DiagnosticCode::IoFailure ||
        !loaded.facts.isOpen)
        return error;
    const std::string proposal = compiler::proposedBindings(path, loaded, bindings);
    if (proposal.empty()) return error;
    error.notes.push_back(Diagnostic{Severity::Note,
                                     DiagnosticCode::DynamicShape,
                                     "this binds all that the model leaves open: " + proposal,
                                     {},
                                     {}});
    return error;
}

} // namespace tenon::runs
