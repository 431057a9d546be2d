// SPDX-License-Identifier: Apache-2.0
// Indexes of a graph.
#include "compiler/quantize/float_graph.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::GraphProto;
using tenon_onnx::NodeProto;
using tenon_onnx::TensorProto;

/// Operators whose result has a type of its own, whatever they read.
constexpr std::array<std::string_view, 6> kToInt64{"Shape",  "Size",    "ArgMax",
                                                   "ArgMin", "NonZero", "NonMaxSuppression"};
constexpr std::array<std::string_view, 11> kToBool{
    "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Not",
    "And",   "Or",   "Xor",     "IsNaN",       "IsInf"};

template <size_t n>
bool contains(const std::array<std::string_view, n>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

void addOnce(std::vector<int>& list, int node)
{
    if (list.empty() || list.back() != node) list.push_back(node);
}

} // namespace

FloatGraph::FloatGraph(const GraphProto& graph)
    : m_graph(&graph)
{
    for (const auto& output : graph.output()) m_results.insert(output.name());
    addConstants();
    for (const auto& input : graph.input())
        if (!isConstant(input.name())) m_inputs.insert(input.name());
    for (int i = 0; i < graph.node_size(); ++i) {
        const NodeProto& node = graph.node(i);
        for (const std::string& output : node.output())
            if (!output.empty()) m_producers[output] = i;
        for (const std::string& input : node.input())
            if (!input.empty()) addOnce(m_consumers[input], i);
        for (const AttributeProto& attr : node.attribute()) {
            if (attr.has_g()) addReaders(attr.g(), i);
            for (const GraphProto& body : attr.graphs()) addReaders(body, i);
        }
    }
    addTypes();
}

void FloatGraph::addConstants()
{
    for (const TensorProto& tensor : m_graph->initializer()) m_constants[tensor.name()] = &tensor;
    for (const NodeProto& node : m_graph->node()) {
        const AttributeProto* value = attributeOf(node, "value");
        if (node.op_type() == "Constant" && value && value->has_t() && node.output_size() == 1)
            m_constants[node.output(0)] = &value->t();
    }
}

void FloatGraph::addReaders(const GraphProto& graph, int node)
{
    for (const NodeProto& inner : graph.node()) {
        for (const std::string& input : inner.input()) {
            if (input.empty()) continue;
            addOnce(m_consumers[input], node);
            m_captured.insert(input);
        }
        for (const AttributeProto& attr : inner.attribute()) {
            if (attr.has_g()) addReaders(attr.g(), node);
            for (const GraphProto& body : attr.graphs()) addReaders(body, node);
        }
    }
    for (const auto& output : graph.output()) m_captured.insert(output.name());
}

void FloatGraph::addTypes()
{
    const auto take = [&](const auto& infos) {
        for (const auto& info : infos)
            if (info.type().has_tensor_type())
                m_types[info.name()] = info.type().tensor_type().elem_type();
    };
    take(m_graph->input());
    for (const auto& [name, tensor] : m_constants) m_types[name] = tensor->data_type();
    for (const NodeProto& node : m_graph->node()) {
        const int32_t type = resultType(node);
        for (const std::string& output : node.output()) m_types[output] = type;
    }
    take(m_graph->value_info());
    take(m_graph->output());
}

int32_t FloatGraph::resultType(const NodeProto& node) const
{
    const std::string& op = node.op_type();
    if (!node.domain().empty() && node.domain() != "ai.onnx") return TensorProto::UNDEFINED;
    if (contains(kToInt64, op)) return TensorProto::INT64;
    if (contains(kToBool, op)) return TensorProto::BOOL;
    if (op == "Cast") return static_cast<int32_t>(integerOf(node, "to", TensorProto::UNDEFINED));
    if (const AttributeProto* value = attributeOf(node, "value"); value && value->has_t())
        return value->t().data_type();
    if (op == "ConstantOfShape") return TensorProto::FLOAT;
    const int from = op == "Where" || op == "OneHot" ? node.input_size() - 1 : 0;
    if (from < 0 || from >= node.input_size()) return TensorProto::UNDEFINED;
    const auto found = m_types.find(node.input(from));
    return found == m_types.end() ? static_cast<int32_t>(TensorProto::UNDEFINED) : found->second;
}

int FloatGraph::producer(const std::string& tensor) const
{
    const auto found = m_producers.find(tensor);
    return found == m_producers.end() ? -1 : found->second;
}

const std::vector<int>& FloatGraph::consumers(const std::string& tensor) const
{
    const auto found = m_consumers.find(tensor);
    return found == m_consumers.end() ? m_nobody : found->second;
}

const Tensor* FloatGraph::constant(const std::string& tensor) const
{
    const auto proto = m_constants.find(tensor);
    if (proto == m_constants.end()) return nullptr;
    const auto known = m_values.find(tensor);
    if (known != m_values.end()) return known->second.isNull() ? nullptr : &known->second;
    auto value = tensorOf(*proto->second);
    Tensor& kept = m_values[tensor];
    if (!value) return nullptr;
    kept = *std::move(value);
    return &kept;
}

bool FloatGraph::isFloat32(const std::string& tensor) const
{
    const auto found = m_types.find(tensor);
    return found != m_types.end() && found->second == TensorProto::FLOAT;
}

int FloatGraph::onlyConsumer(const std::string& tensor) const
{
    const std::vector<int>& all = consumers(tensor);
    return all.size() == 1 && !isResult(tensor) && !isCaptured(tensor) ? all.front() : -1;
}

} // namespace tenon::compiler
