// SPDX-License-Identifier: Apache-2.0
// Opening ONNX files: map, scan, parse, import.
#include "compiler/frontend/onnx/load_onnx.h"

#include "compiler/frontend/onnx/file/inline_functions.h"
#include "compiler/frontend/onnx/file/model_facts.h"
#include "compiler/frontend/onnx/file/wire_scan.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"

#include <algorithm>
#include <climits>
#include <filesystem>

namespace tenon::compiler {
namespace {

/// The model without the bytes of its weights.
Result<tenon_onnx::ModelProto> parsed(std::span<const std::byte> bytes, const std::string& name)
{
    auto thin = thinModel(bytes, name);
    if (!thin) return thin.error();
    tenon_onnx::ModelProto model;
    const bool isParsed = thin->size() <= INT_MAX &&
                          model.ParseFromArray(thin->data(), static_cast<int>(thin->size()));
    if (!isParsed)
        return makeError(DiagnosticCode::BadModel,
                         "the file is damaged or no ONNX model: a message inside cannot be read",
                         {.file = name});
    if (!model.has_graph())
        return makeError(DiagnosticCode::BadModel,
                         "the file holds no graph; it is cut off or no ONNX model", {.file = name});
    return model;
}

} // namespace

Result<Loaded> loadOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& folder, const std::string& name,
                             const ImportOptions& options)
{
    auto opened = parsed(bytes, name);
    if (!opened) return opened.error();
    tenon_onnx::ModelProto model = std::move(*opened);

    ExternalFiles external(folder);
    const TensorStorage storage{bytes, std::move(owner), &external};
    ModelFacts facts = factsOf(model);
    std::vector<Diagnostic> problems = inlineFunctions(model);
    Loaded loaded = OnnxGraph(model, name, storage, options).run();
    loaded.name = std::filesystem::path(name).stem().string();
    loaded.facts = std::move(facts);
    for (Diagnostic& problem : problems) {
        problem.location.file = name;
        loaded.diagnostics.push_back(std::move(problem));
    }
    return loaded;
}

Result<Loaded> loadOnnxFile(const std::string& path, std::shared_ptr<const MappedFile> file,
                            const ImportOptions& options)
{
    const std::span<const std::byte> bytes = file->bytes();
    if (bytes.empty())
        return makeError(DiagnosticCode::BadModel, "the file is empty", {.file = path});
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    return loadOnnxBytes(bytes, std::move(file), folder, path, options);
}

Result<Loaded> loadOnnx(const std::string& path, const ImportOptions& options)
{
    auto file = MappedFile::open(path);
    return file ? loadOnnxFile(path, *file, options) : file.error();
}

Result<std::vector<std::vector<std::string>>> onnxOutputNames(const std::string& path,
                                                              const MappedFile& file)
{
    auto model = parsed(file.bytes(), path);
    if (!model) return model.error();
    inlineFunctions(*model);
    std::vector<std::vector<std::string>> out;
    for (const auto& node : model->graph().node())
        out.emplace_back(node.output().begin(), node.output().end());
    return out;
}

Result<std::vector<std::string>> writeOnnxWithOutputs(const std::string& path,
                                                      const std::vector<std::string>& tensors,
                                                      const std::string& written)
{
    auto text = readFile(path);
    if (!text) return text.error();
    tenon_onnx::ModelProto model;
    if (!model.ParseFromString(*text) || !model.has_graph())
        return makeError(DiagnosticCode::BadModel, "the file is no ONNX model", {.file = path});
    std::vector<std::string> names;
    for (const auto& output : model.graph().output()) names.push_back(output.name());
    for (const std::string& name : tensors) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        model.mutable_graph()->add_output()->set_name(name);
        names.push_back(name);
    }
    if (Status done = writeFileAtomically(written, model.SerializeAsString()); !done)
        return done.error();
    return names;
}

} // namespace tenon::compiler
