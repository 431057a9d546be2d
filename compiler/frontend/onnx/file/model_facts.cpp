// SPDX-License-Identifier: Apache-2.0
// Facts and names of an ONNX file.
#include "compiler/frontend/onnx/file/model_facts.h"

#include "compiler/frontend/onnx/file/tensor_reader.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// "['', 'layer1', 'layer1.conv']" as exporters write it; the last entry is the node itself.
std::vector<std::string> listedScopes(std::string_view text)
{
    std::vector<std::string> out;
    for (size_t at = text.find('\''); at != std::string_view::npos; at = text.find('\'', at)) {
        const size_t end = text.find('\'', at + 1);
        if (end == std::string_view::npos) break;
        if (end > at + 1) out.emplace_back(text.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    if (!out.empty()) out.pop_back();
    return out;
}

std::vector<std::string> slashedScopes(std::string_view name)
{
    std::vector<std::string> out;
    for (std::string& part : split(name, '/'))
        if (!part.empty()) out.push_back(std::move(part));
    if (!out.empty()) out.pop_back();
    return out;
}

std::vector<std::string> scopeOf(const tenon_onnx::NodeProto& node)
{
    for (const auto& entry : node.metadata_props())
        if (entry.key() == "pkg.torch.onnx.name_scopes") return listedScopes(entry.value());
    for (const auto& entry : node.metadata_props()) {
        if (entry.key() != "namespace") continue;
        std::vector<std::string> out;
        for (const std::string& part : slashedScopes(entry.value())) {
            const std::string name = part.substr(0, part.find(':'));
            if (!name.empty()) out.push_back(name);
        }
        return out;
    }
    return slashedScopes(node.name());
}

std::string typeKind(const tenon_onnx::TypeProto& type)
{
    if (type.has_sequence_type()) return "sequence";
    if (type.has_map_type()) return "map";
    if (type.has_optional_type()) return "optional";
    if (type.has_sparse_tensor_type()) return "sparse tensor";
    if (type.has_opaque_type()) return "opaque";
    return "unknown";
}

/// A name that arithmetic on dimensions cannot mistake for an expression.
std::string symbolName(std::string name)
{
    for (char& c : name)
        if (std::string_view(" *()").find(c) != std::string_view::npos) c = '_';
    return name;
}

/// What exporters write where they know no name: each such dimension is one of its own, equal names
/// or not. (Names with a number, as "unk__12", are given once per size and stay names.)
bool isPlaceholder(std::string_view name)
{
    std::string plain;
    for (const char c : name)
        if (c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    static constexpr std::string_view kPlaceholders[] = {
        "", "*", "-1", "?", "any", "dynamic", "none", "null", "unk", "unknown"};
    return std::find(std::begin(kPlaceholders), std::end(kPlaceholders), plain) !=
           std::end(kPlaceholders);
}

int64_t elementsOf(const tenon_onnx::TensorProto& tensor)
{
    int64_t count = 1;
    for (const int64_t dim : tensor.dims())
        if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return 0;
    return count;
}

} // namespace

std::string domainText(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

std::set<std::string> initializerNames(const tenon_onnx::GraphProto& graph)
{
    std::set<std::string> names;
    for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
    return names;
}

ValueFacts valueFactsOf(const tenon_onnx::ValueInfoProto& info)
{
    ValueFacts facts{.name = info.name()};
    const auto& type = info.type();
    if (!type.has_tensor_type()) {
        facts.dtype = typeKind(type);
        facts.hasShape = false;
        return facts;
    }
    facts.dtype = onnxTypeName(type.tensor_type().elem_type());
    facts.hasShape = type.tensor_type().has_shape();
    for (int i = 0; i < type.tensor_type().shape().dim_size(); ++i) {
        const auto& dim = type.tensor_type().shape().dim(i);
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            facts.shape.emplace_back(dim.dim_value());
        else if (dim.has_dim_param() && !isPlaceholder(dim.dim_param()))
            facts.shape.push_back(Dim::symbol(symbolName(dim.dim_param())));
        else
            facts.shape.push_back(Dim::unknown(info.name() + "_d" + std::to_string(i)));
    }
    return facts;
}

SourceNode sourceOf(const tenon_onnx::NodeProto& node, size_t index)
{
    SourceNode source{.name = node.name(), .op = node.op_type(), .domain = node.domain()};
    if (source.name.empty()) source.name = node.op_type() + "_" + std::to_string(index);
    if (source.domain == "ai.onnx") source.domain.clear();
    source.scope = scopeOf(node);
    return source;
}

ModelFacts factsOf(const tenon_onnx::ModelProto& model)
{
    ModelFacts facts{.format = "onnx", .irVersion = model.ir_version()};
    for (const auto& opset : model.opset_import())
        facts.opsets.emplace_back(domainText(opset.domain()), opset.version());
    facts.producer = model.producer_name();
    facts.producerVersion = model.producer_version();
    facts.domain = model.domain();
    facts.modelVersion = model.model_version();
    facts.doc = model.doc_string();
    facts.graphName = model.graph().name();
    for (const auto& entry : model.metadata_props())
        facts.metadata.emplace_back(entry.key(), entry.value());
    for (const auto& function : model.functions())
        facts.functions.push_back(domainText(function.domain()) + "::" + function.name());

    const std::set<std::string> initializers = initializerNames(model.graph());
    for (const auto& input : model.graph().input())
        if (!initializers.contains(input.name())) facts.inputs.push_back(valueFactsOf(input));
    for (const auto& output : model.graph().output()) facts.outputs.push_back(valueFactsOf(output));
    facts.nodeCount = static_cast<size_t>(model.graph().node_size());
    for (const auto& node : model.graph().node()) {
        const std::string domain = domainText(node.domain());
        ++facts.opCounts[domain == "ai.onnx" ? node.op_type() : domain + "::" + node.op_type()];
    }
    for (const auto& tensor : model.graph().initializer()) {
        const int64_t count = elementsOf(tensor);
        const auto dtype = dataTypeOf(tensor.data_type());
        facts.parameterCount += count;
        facts.parameterBytes += count * (dtype ? dtype->bytes() : 0);
    }
    return facts;
}

} // namespace tenon::compiler
