// SPDX-License-Identifier: Apache-2.0
// Facts and names of a .tflite file.
#include "compiler/frontend/tflite/file/model_facts.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenon::compiler {
namespace {

/// Metadata are bytes; short text is shown as such.
std::string shownMetadata(std::span<const std::byte> bytes)
{
    constexpr size_t kLongest = 256;
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    const bool isText =
        text.size() <= kLongest &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return isText ? text : std::to_string(bytes.size()) + " bytes";
}

/// What turns the integers of an input or output into real values: whoever feeds it needs that.
std::string realText(const TfliteQuantization& quantization)
{
    const int64_t zero = quantization.zeros.empty() ? 0 : quantization.zeros[0];
    const auto scale = static_cast<float>(quantization.scales[0]);
    std::array<char, 32> digits{}; // the shortest that read back as what the file holds
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), scale).ptr;
    const std::string taken = std::to_string(zero); // also of the least number that there is
    return "(integer " + (zero < 0 ? "+ " + taken.substr(1) : "- " + taken) + ") * " +
           std::string(digits.data(), end);
}

std::string signatureText(const TfliteModel& model, const TfliteSignature& signature)
{
    const auto listed = [&](const std::vector<std::pair<std::string, int64_t>>& values) {
        std::vector<std::string> out;
        const size_t graph = static_cast<size_t>(signature.subgraph);
        for (const auto& [name, tensor] : values) {
            const bool isKnown =
                graph < model.subgraphs.size() &&
                static_cast<size_t>(tensor) < model.subgraphs[graph].tensors.size();
            out.push_back(name + " = " +
                          (isKnown
                               ? model.subgraphs[graph].tensors[static_cast<size_t>(tensor)].name
                               : "tensor " + std::to_string(tensor)));
        }
        return join(out, ", ");
    };
    return "(" + listed(signature.inputs) + ") -> (" + listed(signature.outputs) + ")";
}

void countParameters(const TfliteModel& model, ModelFacts& facts)
{
    for (const TfliteSubgraph& graph : model.subgraphs)
        for (const TfliteTensor& tensor : graph.tensors) {
            if (tensor.buffer >= model.buffers.size() || model.buffers[tensor.buffer].empty())
                continue;
            int64_t count = 1;
            for (const int64_t dim : tensor.shape)
                if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) count = 0;
            facts.parameterCount += count;
            facts.parameterBytes += static_cast<int64_t>(model.buffers[tensor.buffer].size());
        }
}

/// A name that arithmetic on dimensions cannot mistake for an expression.
std::string symbolName(std::string name, size_t axis)
{
    for (char& c : name)
        if (std::string_view(" *()+-/").find(c) != std::string_view::npos) c = '_';
    return name + "_d" + std::to_string(axis);
}

} // namespace

ValueFacts valueFactsOf(const TfliteTensor& tensor, bool isOpen)
{
    ValueFacts facts{.name = tensor.name,
                     .dtype = tfliteTypeName(tensor.type),
                     .shape = makeShape(tensor.shape),
                     .hasShape = true};
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        const bool hasName =
            tensor.shape[i] < 0 ||
            (isOpen && tensor.signature.size() == tensor.shape.size() && tensor.signature[i] < 0);
        if (hasName) facts.shape[i] = Dim::symbol(symbolName(tensor.name, i));
    }
    return facts;
}

SourceNode sourceOf(const TfliteSubgraph& graph, size_t index)
{
    const TfliteOperator& op = graph.operators[index];
    SourceNode source{.op = op.name, .domain = "tflite"};
    if (!op.outputs.empty() && op.outputs[0] >= 0) {
        // Converters join the names of what they fused by semicolons.
        source.name = graph.tensors[static_cast<size_t>(op.outputs[0])].name;
        source.name = source.name.substr(0, source.name.find(';'));
    }
    if (source.name.empty()) source.name = op.name + "_" + std::to_string(index);
    for (std::string& part : split(source.name, '/'))
        if (!part.empty()) source.scope.push_back(std::move(part));
    if (!source.scope.empty()) source.scope.pop_back();
    return source;
}

ModelFacts tfliteFactsOf(const TfliteModel& model)
{
    ModelFacts facts{.format = "tflite", .irVersion = model.version};
    facts.doc = model.description;
    facts.graphName = model.subgraphs[0].name;
    for (const auto& [name, bytes] : model.metadata)
        facts.metadata.emplace_back(name, shownMetadata(bytes));
    for (const TfliteSignature& signature : model.signatures)
        facts.metadata.emplace_back("signature " + signature.key, signatureText(model, signature));
    for (size_t i = 1; i < model.subgraphs.size(); ++i)
        facts.functions.push_back(model.subgraphs[i].name.empty() ? "graph " + std::to_string(i)
                                                                  : model.subgraphs[i].name);
    const TfliteSubgraph& graph = model.subgraphs[0];
    for (const int64_t id : graph.inputs)
        facts.inputs.push_back(valueFactsOf(graph.tensors[static_cast<size_t>(id)], false));
    for (const int64_t id : graph.outputs)
        facts.outputs.push_back(valueFactsOf(graph.tensors[static_cast<size_t>(id)], false));
    for (const auto* ids : {&graph.inputs, &graph.outputs})
        for (const int64_t id : *ids)
            if (const TfliteTensor& tensor = graph.tensors[static_cast<size_t>(id)];
                tensor.quantization.scales.size() == 1)
                facts.metadata.emplace_back("real value of " + tensor.name,
                                            realText(tensor.quantization));
    facts.nodeCount = graph.operators.size();
    for (const TfliteSubgraph& each : model.subgraphs)
        for (const TfliteOperator& op : each.operators) ++facts.opCounts[op.name];
    countParameters(model, facts);
    return facts;
}

} // namespace tenon::compiler
