// SPDX-License-Identifier: Apache-2.0
// Opening ONNX files: map, scan, parse, import.
#include "compiler/frontend/onnx/load_onnx.h"

#include "compiler/frontend/onnx/file/inline_functions.h"
#include "compiler/frontend/onnx/file/model_facts.h"
#include "compiler/frontend/onnx/file/wire_scan.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"

#include <climits>
#include <filesystem>

namespace tenon::compiler {

Result<Loaded> loadOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& folder, const std::string& name,
                             const ImportOptions& options)
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
    thin = std::string();

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

} // namespace tenon::compiler
