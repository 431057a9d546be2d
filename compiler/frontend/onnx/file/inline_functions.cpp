// SPDX-License-Identifier: Apache-2.0
// Replacement of function calls in graphs and their subgraphs, with names made unique per call.
#include "compiler/frontend/onnx/file/inline_functions.h"

#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using namespace core;
using tenon_onnx::AttributeProto;
using tenon_onnx::FunctionProto;
using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr size_t kMaxDepth = 32;
constexpr int kMaxNodes = 1 << 17; ///< a few functions that call each other grow exponentially
constexpr size_t kMaxNameBytes = 24 << 20; ///< and so do names, which tell the calls that led there

bool isStandard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string keyOf(const std::string& domain, const std::string& name, const std::string& overload)
{
    return (isStandard(domain) ? "" : domain) + "::" + name + "::" + overload;
}

/// What the names and attributes inside one call stand for.
struct Call
{
    std::unordered_map<std::string, std::string> names;
    std::map<std::string, const AttributeProto*> attributes;
    std::string prefix;
    int64_t opset = 0;

    std::string name(const std::string& inner) const
    {
        if (inner.empty()) return inner;
        const auto bound = names.find(inner);
        return bound != names.end() ? bound->second : prefix + inner;
    }
};

class Inliner
{
public:
    explicit Inliner(ModelProto& model)
        : m_model(model)
    {
        for (const FunctionProto& function : model.functions())
            m_functions.emplace(keyOf(function.domain(), function.name(), function.overload()),
                                &function);
    }

    std::vector<Diagnostic> run()
    {
        if (!m_functions.empty()) expandGraph(*m_model.mutable_graph());
        return std::move(m_problems);
    }

private:
    const FunctionProto* functionOf(const NodeProto& node) const
    {
        const auto found = m_functions.find(keyOf(node.domain(), node.op_type(), node.overload()));
        return found == m_functions.end() ? nullptr : found->second;
    }

    void expandGraph(GraphProto& graph)
    {
        google::protobuf::RepeatedPtrField<NodeProto> old;
        old.Swap(graph.mutable_node());
        for (NodeProto& node : old) append(std::move(node), graph);
    }

    void append(NodeProto node, GraphProto& graph)
    {
        const FunctionProto* function = functionOf(node);
        const bool isTooMuch =
            m_active.size() > kMaxDepth || m_nodes > kMaxNodes || m_nameBytes > kMaxNameBytes ||
            std::find(m_active.begin(), m_active.end(), function) != m_active.end();
        if (function && isTooMuch && m_problems.empty())
            m_problems.push_back(
                makeError(DiagnosticCode::BadModel,
                          "function " + quoted(function->name()) +
                              " calls itself or makes too many nodes; it is shown as a call",
                          {.node = node.name(), .op = node.op_type()}));
        if (function && !isTooMuch) {
            m_active.push_back(function);
            expandCall(node, *function, graph);
            m_active.pop_back();
            return;
        }
        ++m_nodes;
        m_nameBytes += node.name().size();
        for (const std::string& name : node.input()) m_nameBytes += name.size();
        for (const std::string& name : node.output()) m_nameBytes += name.size();
        for (AttributeProto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) expandGraph(*attribute.mutable_g());
            for (GraphProto& body : *attribute.mutable_graphs()) expandGraph(body);
        }
        *graph.add_node() = std::move(node);
    }

    void expandCall(const NodeProto& node, const FunctionProto& function, GraphProto& graph)
    {
        Call call;
        const std::string own =
            node.name().empty() ? function.name() + "_" + std::to_string(m_calls) : node.name();
        call.prefix = own + "." + std::to_string(m_calls++) + "/";
        for (int i = 0; i < function.input_size(); ++i)
            call.names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
        for (int i = 0; i < function.output_size(); ++i)
            if (i < node.output_size() && !node.output(i).empty())
                call.names.emplace(function.output(i), node.output(i));
        for (const AttributeProto& attribute : function.attribute_proto())
            call.attributes[attribute.name()] = &attribute;
        for (const AttributeProto& attribute : node.attribute())
            call.attributes[attribute.name()] = &attribute;
        for (const auto& opset : function.opset_import())
            if (isStandard(opset.domain())) call.opset = opset.version();
        for (int i = 0; i < function.node_size(); ++i) {
            NodeProto inner = function.node(i);
            rename(inner, call);
            inner.set_name(own + "/" +
                           (function.node(i).name().empty()
                                ? function.node(i).op_type() + "_" + std::to_string(i)
                                : function.node(i).name()));
            append(std::move(inner), graph);
        }
        forwardPassedInputs(node, function, graph);
    }

    /// A function may return one of its inputs, which has no node to write the caller's name.
    static void forwardPassedInputs(const NodeProto& node, const FunctionProto& function,
                                    GraphProto& graph)
    {
        for (int out = 0; out < std::min(function.output_size(), node.output_size()); ++out)
            for (int in = 0; in < std::min(function.input_size(), node.input_size()); ++in) {
                if (function.output(out) != function.input(in) || node.output(out).empty())
                    continue;
                NodeProto* identity = graph.add_node();
                identity->set_op_type("Identity");
                identity->set_name(node.name() + "/" + function.output(out));
                identity->add_input(node.input(in));
                identity->add_output(node.output(out));
            }
    }

    void rename(NodeProto& node, const Call& call)
    {
        for (std::string& name : *node.mutable_input()) name = call.name(name);
        for (std::string& name : *node.mutable_output()) name = call.name(name);
        if (isStandard(node.domain()) && call.opset > 0) node.set_opset(call.opset);
        google::protobuf::RepeatedPtrField<AttributeProto> attributes;
        attributes.Swap(node.mutable_attribute());
        for (AttributeProto& attribute : attributes) {
            if (!attribute.ref_attr_name().empty()) {
                // Without a value of the caller's the attribute keeps its operator's default.
                const auto given = call.attributes.find(attribute.ref_attr_name());
                if (given == call.attributes.end()) continue;
                AttributeProto value = *given->second;
                value.set_name(attribute.name());
                *node.add_attribute() = std::move(value);
                continue;
            }
            if (attribute.has_g()) rename(*attribute.mutable_g(), call);
            for (GraphProto& body : *attribute.mutable_graphs()) rename(body, call);
            *node.add_attribute() = std::move(attribute);
        }
    }

    void rename(GraphProto& graph, const Call& call)
    {
        for (NodeProto& node : *graph.mutable_node()) rename(node, call);
        for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(call.name(tensor.name()));
        for (auto* list :
             {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
            for (auto& info : *list) info.set_name(call.name(info.name()));
    }

    ModelProto& m_model;
    std::unordered_map<std::string, const FunctionProto*> m_functions;
    std::vector<Diagnostic> m_problems;
    std::vector<const FunctionProto*> m_active; ///< calls being expanded
    int m_calls = 0;
    int m_nodes = 0;
    size_t m_nameBytes = 0; ///< of those nodes
};

} // namespace

std::vector<Diagnostic> inlineFunctions(ModelProto& model) { return Inliner(model).run(); }

} // namespace tenon::compiler
