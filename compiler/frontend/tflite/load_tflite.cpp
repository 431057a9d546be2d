// SPDX-License-Identifier: Apache-2.0
// Opening .tflite files: map, read the tables, import.
#include "compiler/frontend/tflite/load_tflite.h"

#include "compiler/frontend/tflite/file/model_facts.h"
#include "compiler/frontend/tflite/graph/tflite_graph.h"
#include "compiler/frontend/tflite/picture_names.h"
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

/// The tensors of an operator that is the node; none where they are not the node's results.
std::vector<std::string> namesOfResults(const TfliteSubgraph& main, size_t index,
                                        const NodeRecord& node, const TfliteGraph& graph)
{
    std::vector<std::string> out;
    const std::vector<int64_t>& outputs = main.operators[index].outputs;
    if (outputs.size() != node.types.size()) return out;
    for (uint32_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] < 0) return {};
        const std::string& name = main.tensors[static_cast<size_t>(outputs[i])].name;
        out.push_back(graph.isTurned({node.id, i}) ? channelsFirstName(name) : name);
    }
    return out;
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

Result<std::vector<std::vector<std::string>>> tfliteOutputNames(const std::string& path,
                                                                const MappedFile& file)
{
    const auto model = readTfliteModel(file.bytes(), nullptr, path);
    if (!model) return model.error();
    const ImportOptions options;
    TfliteGraph graph(*model, path, options);
    const Loaded loaded = graph.run();
    std::vector<std::vector<std::string>> out;
    if (hasErrors(loaded.diagnostics)) return out;
    const TfliteSubgraph& main = model->subgraphs.at(0);
    out.resize(main.operators.size());
    for (const NodeId id : loaded.module.main().order) {
        const NodeRecord& node = loaded.module.node(id);
        if (node.kind != NodeKind::Op || node.origin.size() != 1) continue;
        const size_t source = node.origin[0].value;
        // The last node of an operator gives its tensors, unless each has a node of its own.
        if (source < out.size()) out[source] = namesOfResults(main, source, node, graph);
    }
    return out;
}

} // namespace tenon::compiler
