// SPDX-License-Identifier: Apache-2.0
// Opening .tflite files: map, read the tables, import.
#include "compiler/frontend/tflite/load_tflite.h"

#include "compiler/frontend/tflite/file/model_facts.h"
#include "compiler/frontend/tflite/graph/tflite_graph.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>

namespace tenon::compiler {
namespace {

/// An input that may have any size stands in the file with some size, often 1, which the rest of
/// the graph need not fit.
void remarkOpenInputs(const TfliteModel& model, const std::string& file,
                      const ImportOptions& options, Loaded& loaded)
{
    if (!hasErrors(loaded.diagnostics) || model.subgraphs.empty()) return;
    const TfliteSubgraph& graph = model.subgraphs[0];
    for (const int64_t id : graph.inputs) {
        const TfliteTensor& tensor = graph.tensors[static_cast<size_t>(id)];
        const bool isOpen = std::any_of(tensor.signature.begin(), tensor.signature.end(),
                                        [](int64_t size) { return size < 0; });
        if (!isOpen || options.shapes.contains(tensor.name)) continue;
        loaded.diagnostics.push_back(makeWarning(
            DiagnosticCode::DynamicShape,
            "input " + core::quoted(tensor.name) + " may have any size (" +
                join(tensor.signature, ", ") + ") and is taken as (" + join(tensor.shape, ", ") +
                "); `--shape " + tensor.name + "=..` gives another size",
            {.file = file}));
    }
}

} // namespace

Result<Loaded> loadTfliteBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               const std::string& name, const ImportOptions& options)
{
    const auto model = readTfliteModel(bytes, std::move(owner), name);
    if (!model) return model.error();
    Loaded loaded = TfliteGraph(*model, name, options).run();
    loaded.name = std::filesystem::path(name).stem().string();
    loaded.facts = tfliteFactsOf(*model);
    remarkOpenInputs(*model, name, options, loaded);
    return loaded;
}

Result<Loaded> loadTfliteFile(const std::string& path, std::shared_ptr<const MappedFile> file,
                              const ImportOptions& options)
{
    const std::span<const std::byte> bytes = file->bytes();
    return loadTfliteBytes(bytes, std::move(file), path, options);
}

} // namespace tenon::compiler
