// SPDX-License-Identifier: Apache-2.0
// Scan as a loop: each step takes its elements out of the sequences.
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

/// One entry per sequence; absent: all zeros.
std::vector<int64_t> perSequence(OnnxNode& node, std::string_view attr, size_t count)
{
    std::vector<int64_t> out = node.integers(attr, std::vector<int64_t>(count, 0));
    if (out.size() != count)
        node.fail(DiagnosticCode::BadAttribute,
                  std::string(attr) + " has " + std::to_string(out.size()) + " entries but needs " +
                      std::to_string(count),
                  std::string(attr));
    out.resize(count, 0);
    return out;
}

/// How many values a step hands to the next; nothing after a failure.
std::optional<size_t> statesOf(OnnxNode& node, const tenon_onnx::GraphProto* body)
{
    const int64_t sequences = node.integer("num_scan_inputs", 0);
    const auto inputs = static_cast<int64_t>(node.proto().input_size());
    if (node.hasFailed()) return std::nullopt;
    if (sequences < 1 || sequences > inputs) {
        node.fail(DiagnosticCode::BadAttribute,
                  "num_scan_inputs is " + std::to_string(sequences) + " of " +
                      std::to_string(inputs) + " inputs",
                  "num_scan_inputs");
        return std::nullopt;
    }
    const auto states = static_cast<size_t>(inputs - sequences);
    if (body->input_size() == inputs && node.outputCount() >= states &&
        body->output_size() == static_cast<int>(node.outputCount()))
        return states;
    node.fail(DiagnosticCode::BadModel, "the body's inputs and outputs do not fit the node's");
    return std::nullopt;
}

/// Where the steps of the sequences lie, and which of the outputs run backwards.
struct ScanAxes
{
    std::vector<int64_t> in;
    std::vector<int64_t> out;
    std::vector<int64_t> outReversed;
};

ScanAxes scanAxes(OnnxNode& node, size_t states)
{
    const size_t inputs = static_cast<size_t>(node.proto().input_size()) - states;
    const size_t outputs = node.outputCount() - states;
    ScanAxes axes;
    axes.in = perSequence(node, "scan_input_axes", inputs);
    perSequence(node, "scan_input_directions", inputs);
    axes.out = perSequence(node, "scan_output_axes", outputs);
    axes.outReversed = perSequence(node, "scan_output_directions", outputs);
    return axes;
}

/// What a step gets: the states, and an element of each sequence along its axis, which from here
/// on counts from the front.
Types stepTypes(OnnxNode& node, size_t states, std::vector<int64_t>& axes)
{
    Types types;
    for (size_t i = 0; i < states; ++i) types.push_back(node.type(i));
    for (size_t i = 0; i < axes.size() && !node.hasFailed(); ++i) {
        TensorType element = node.type(states + i);
        axes[i] = node.axisOf(axes[i], static_cast<int64_t>(element.shape.size()));
        if (node.hasFailed()) break;
        element.shape.erase(element.shape.begin() + axes[i]);
        types.push_back(std::move(element));
    }
    return types;
}

/// The dimension along which all sequences run.
std::optional<Dim> lengthOf(OnnxNode& node, size_t states, const std::vector<int64_t>& axes)
{
    std::optional<Dim> length;
    for (size_t i = 0; i < axes.size() && !node.hasFailed(); ++i) {
        const Dim& mine = node.type(states + i).shape.at(static_cast<size_t>(axes[i]));
        if (length && !(*length == mine))
            node.fail(DiagnosticCode::ShapeMismatch,
                      "the sequences have the lengths " + length->text() + " and " + mine.text());
        length = mine;
    }
    return length;
}

/// The collected values in the asked order and along the asked axis.
ValueRef arranged(OnnxNode& node, ValueRef value, int64_t axis, bool isReversed)
{
    const int64_t rank = static_cast<int64_t>(node.typeOf(value).shape.size());
    axis = node.axisOf(axis, rank);
    if (isReversed) {
        const std::vector<int64_t> shape = node.shapeOf(value);
        if (node.hasFailed()) return value;
        value = node.emit("strided_slice", {value},
                          {{"begin", std::vector<int64_t>{-1}},
                           {"end", std::vector<int64_t>{-shape[0] - 1}},
                           {"strides", std::vector<int64_t>{-1}},
                           {"axes", std::vector<int64_t>{0}}});
    }
    if (axis == 0 || node.hasFailed()) return value;
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 1);
    order.back() = 0;
    std::rotate(order.begin() + axis, order.end() - 1, order.end());
    return node.emit("transpose", {value}, {{"axes", order}});
}

/// The Scan of opset 8 as one of opset 9 over the batch, whose body is one over the sequence.
tenon_onnx::NodeProto overBatch(const tenon_onnx::NodeProto& scan)
{
    using tenon_onnx::AttributeProto;
    tenon_onnx::NodeProto inner;
    inner.set_op_type("Scan");
    inner.set_name(scan.name() + "/sequence");
    inner.set_opset(9);
    for (const AttributeProto& attr : scan.attribute()) {
        AttributeProto& copy = *inner.add_attribute();
        copy = attr;
        if (attr.name() == "directions") copy.set_name("scan_input_directions");
    }
    tenon_onnx::NodeProto outer;
    outer.set_op_type("Scan");
    outer.set_name(scan.name());
    outer.set_opset(9);
    AttributeProto& count = *outer.add_attribute();
    count.set_name("num_scan_inputs");
    count.set_type(AttributeProto::INT);
    count.set_i(scan.input_size() - 1);
    AttributeProto& body = *outer.add_attribute();
    body.set_name("body");
    body.set_type(AttributeProto::GRAPH);
    for (int i = 1; i < scan.input_size(); ++i) { // the first are the lengths
        outer.add_input(scan.input(i));
        inner.add_input(inner.name() + "/in" + std::to_string(i));
        body.mutable_g()->add_input()->set_name(inner.input(i - 1));
    }
    for (int i = 0; i < scan.output_size(); ++i) {
        outer.add_output(scan.output(i));
        inner.add_output(inner.name() + "/out" + std::to_string(i));
        body.mutable_g()->add_output()->set_name(inner.output(i));
    }
    *body.mutable_g()->add_node() = std::move(inner);
    return outer;
}

/// Adds nodes of one source to a body.
class BodyNodes
{
public:
    BodyNodes(Module& module, SourceId source)
        : m_module(module)
        , m_source(source)
    {
    }

    NodeId param(const std::string& name, const TensorType& type)
    {
        NodeRecord param;
        param.kind = NodeKind::Parameter;
        param.name = name;
        return add(std::move(param), type);
    }
    /// `size` - 1 - `step`
    ValueRef fromEnd(ValueRef step, const Dim& size)
    {
        NodeRecord last = newOpNode(m_module, "sizes", {});
        last.attrs = {{"sizes", std::vector<std::string>{(size - Dim(1)).text()}},
                      {"scalar", int64_t{1}}};
        m_order.push_back(add(std::move(last), {kInt64, {}}));
        m_order.push_back(
            add(newOpNode(m_module, "subtract", {{m_order.back(), 0}, step}), {kInt64, {}}));
        return {m_order.back(), 0};
    }
    /// A parameter becomes the node that takes it out of the sequence.
    void becomeElement(NodeId param, ValueRef sequence, ValueRef index, int64_t axis)
    {
        NodeRecord element = m_module.node(param);
        element.kind = NodeKind::Op;
        element.op = "take";
        element.operands = {sequence, index};
        element.attrs = {{"axis", axis}};
        element.origin = {m_source};
        m_order.push_back(param);
        m_module.setNode(std::move(element));
    }
    /// The nodes that compute.
    const std::vector<NodeId>& order() const { return m_order; }

private:
    NodeId add(NodeRecord record, const TensorType& type)
    {
        record.id = m_module.ids().nextNode();
        record.types = {type};
        if (record.kind == NodeKind::Op) record.origin = {m_source};
        const NodeId id = record.id;
        m_module.setNode(std::move(record));
        return id;
    }

    Module& m_module;
    SourceId m_source;
    std::vector<NodeId> m_order;
};

} // namespace

void OnnxGraph::importBatchedScan(OnnxNode& node)
{
    if (node.has(0))
        return node.fail(DiagnosticCode::UnsupportedFeature,
                         "sequences of different lengths in one batch are not supported; leave "
                         "sequence_lens out and pad them");
    for (size_t i = 1; i < node.inputCount(); ++i) node.has(i);
    const tenon_onnx::NodeProto nested = overBatch(node.proto());
    OnnxNode outer(m_state, nested, node.source(), 9, m_storage);
    importScan(outer);
    if (!outer.hasFailed()) return outer.finish();
    outer.rollBack();
    node.fail(outer.error().code, outer.error().message, outer.error().location.detail);
}

/// Puts step and condition before the body's parameters, and makes its elements out of sequences,
/// which it captures last.
void OnnxGraph::makeScanBody(OnnxNode& node, Body& body, size_t states,
                             std::vector<ValueRef>& sequences)
{
    Module& module = m_state.module;
    GraphFunction function = module.function(body.function);
    BodyNodes nodes(module, node.source());
    const NodeId step = nodes.param("step", {kInt64, {}});
    const NodeId condition = nodes.param("condition", {kBool, {}});
    const std::vector<int64_t> axes = node.integers("scan_input_axes", {});
    const std::vector<int64_t> directions = node.integers("scan_input_directions", {});
    std::vector<NodeId> taken;
    for (size_t i = 0; i < sequences.size(); ++i) {
        const TensorType type = module.type(sequences[i]);
        const int64_t rank = static_cast<int64_t>(type.shape.size());
        const int64_t axis = i < axes.size() ? node.axisOf(axes[i], rank) : 0;
        taken.push_back(nodes.param("sequence", type));
        const bool isBackwards = i < directions.size() && directions[i] == 1;
        const ValueRef index = isBackwards
                                   ? nodes.fromEnd({step, 0}, type.shape[static_cast<size_t>(axis)])
                                   : ValueRef{step, 0};
        nodes.becomeElement(function.params.at(states + i), {taken.back(), 0}, index, axis);
    }
    std::vector<NodeId> params{step, condition};
    const auto at = [&](size_t i) {
        return function.params.begin() + static_cast<std::ptrdiff_t>(i);
    };
    params.insert(params.end(), at(0), at(states));
    params.insert(params.end(), at(states + sequences.size()), function.params.end());
    params.insert(params.end(), taken.begin(), taken.end());
    std::vector<NodeId> order = nodes.order();
    order.insert(order.end(), function.order.begin(), function.order.end());
    function.params = std::move(params);
    function.order = std::move(order);
    function.results.insert(function.results.begin(), ValueRef{condition, 0});
    module.setFunction(std::move(function));
}

void OnnxGraph::importScan(OnnxNode& node)
{
    const tenon_onnx::GraphProto* graph = node.graphAttr("body");
    if (refusesSequences(node)) return;
    const std::optional<size_t> carried = statesOf(node, graph);
    if (!carried) return;
    const size_t states = *carried;
    ScanAxes axes = scanAxes(node, states);
    Types params = stepTypes(node, states, axes.in);
    std::vector<ValueRef> sequences;
    for (size_t i = 0; i < axes.in.size() && !node.hasFailed(); ++i)
        sequences.push_back(node.input(states + i));
    const auto length = lengthOf(node, states, axes.in);
    if (node.hasFailed() || !length) return;
    const int64_t sizes = m_state.sizeCount();
    auto body = importLoopBody(node, *graph, params, 0, states, 0);
    if (!body) return node.fail(DiagnosticCode::UnsupportedOperator, "the body cannot be imported");
    std::vector<ValueRef> operands{node.sizeOf(*length), {}};
    for (size_t i = 0; i < states; ++i) operands.push_back(node.input(i));
    const std::vector<ValueRef> captured = capturedOperands(*body);
    operands.insert(operands.end(), captured.begin(), captured.end());
    operands.insert(operands.end(), sequences.begin(), sequences.end());
    makeScanBody(node, *body, states, sequences);
    Types types;
    for (size_t i = 0; i < node.outputCount(); ++i) {
        TensorType type = typeOutside(i < states ? params[i] : body->results[i].type, sizes);
        if (i >= states) type.shape.insert(type.shape.begin(), *length);
        types.push_back(std::move(type));
    }
    const NodeId id = node.emitControl(
        "loop", operands, {{"carried", static_cast<int64_t>(states)}}, {body->function}, types);
    for (uint32_t i = 0; i < types.size(); ++i)
        node.output(i, i < states ? ValueRef{id, i}
                                  : arranged(node, {id, i}, axes.out[i - states],
                                             axes.outReversed[i - states] == 1));
}

} // namespace tenon::compiler
