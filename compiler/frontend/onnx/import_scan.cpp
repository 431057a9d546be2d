// SPDX-License-Identifier: Apache-2.0
// Scan as a loop: each step takes its elements out of the sequences.
#include "compiler/frontend/onnx/import_graph.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

/// One entry per sequence; absent: all zeros.
std::vector<int64_t> perSequence(NodeImport& node, std::string_view attr, size_t count)
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

/// The dimension along which all sequences run.
std::optional<Dim> lengthOf(NodeImport& node, size_t states, const std::vector<int64_t>& axes)
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
ValueRef arranged(NodeImport& node, ValueRef value, int64_t axis, bool isReversed)
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

} // namespace

void GraphImport::importBatchedScan(NodeImport& node)
{
    if (node.has(0))
        return node.fail(DiagnosticCode::UnsupportedFeature,
                         "sequences of different lengths in one batch are not supported; leave "
                         "sequence_lens out and pad them");
    for (size_t i = 1; i < node.inputCount(); ++i) node.has(i);
    const tenon_onnx::NodeProto nested = overBatch(node.proto());
    NodeImport outer(m_state, nested, node.source(), 9, m_storage);
    importScan(outer);
    if (!outer.hasFailed()) return outer.finish();
    outer.rollBack();
    node.fail(outer.error().code, outer.error().message, outer.error().location.detail);
}

/// Puts step and condition before the body's parameters, and makes its elements out of sequences,
/// which it captures last.
void GraphImport::makeScanBody(NodeImport& node, Body& body, size_t states,
                               std::vector<ValueRef>& sequences)
{
    Module& module = m_state.module;
    GraphFunction function = module.function(body.function);
    const auto addNode = [&](NodeRecord record, Types types) {
        record.id = module.ids().nextNode();
        record.types = std::move(types);
        const NodeId id = record.id;
        module.setNode(std::move(record));
        return id;
    };
    const auto addParam = [&](const std::string& name, const TensorType& type) {
        NodeRecord param;
        param.kind = NodeKind::Parameter;
        param.name = name;
        return addNode(std::move(param), {type});
    };
    const NodeId step = addParam("step", {kInt64, {}});
    const NodeId condition = addParam("condition", {kBool, {}});
    const std::vector<int64_t> axes = node.integers("scan_input_axes", {});
    const std::vector<int64_t> directions = node.integers("scan_input_directions", {});
    std::vector<NodeId> order;
    std::vector<NodeId> taken;
    for (size_t i = 0; i < sequences.size(); ++i) {
        const TensorType type = module.type(sequences[i]);
        const int64_t rank = static_cast<int64_t>(type.shape.size());
        const int64_t axis = i < axes.size() ? node.axisOf(axes[i], rank) : 0;
        taken.push_back(addParam("sequence", type));
        ValueRef index{step, 0};
        if (i < directions.size() && directions[i] == 1) {
            NodeRecord last = newOpNode(module, "sizes", {});
            last.attrs = {
                {"sizes",
                 std::vector<std::string>{(type.shape[static_cast<size_t>(axis)] - Dim(1)).text()}},
                {"scalar", int64_t{1}}};
            last.origin = {node.source()};
            order.push_back(addNode(std::move(last), {{kInt64, {}}}));
            NodeRecord backwards = newOpNode(module, "subtract", {{order.back(), 0}, index});
            backwards.origin = {node.source()};
            order.push_back(addNode(std::move(backwards), {{kInt64, {}}}));
            index = {order.back(), 0};
        }
        // The parameter itself becomes the node that computes it.
        NodeRecord element = module.node(function.params.at(states + i));
        element.kind = NodeKind::Op;
        element.op = "take";
        element.operands = {{taken.back(), 0}, index};
        element.attrs = {{"axis", axis}};
        element.origin = {node.source()};
        order.push_back(element.id);
        module.setNode(std::move(element));
    }
    std::vector<NodeId> params{step, condition};
    const auto at = [&](size_t i) {
        return function.params.begin() + static_cast<std::ptrdiff_t>(i);
    };
    params.insert(params.end(), at(0), at(states));
    params.insert(params.end(), at(states + sequences.size()), function.params.end());
    params.insert(params.end(), taken.begin(), taken.end());
    order.insert(order.end(), function.order.begin(), function.order.end());
    function.params = std::move(params);
    function.order = std::move(order);
    function.results.insert(function.results.begin(), ValueRef{condition, 0});
    module.setFunction(std::move(function));
}

void GraphImport::importScan(NodeImport& node)
{
    const tenon_onnx::GraphProto* graph = node.graphAttr("body");
    if (refusesSequences(node)) return;
    const int64_t given = node.integer("num_scan_inputs", 0);
    const auto inputs = static_cast<int64_t>(node.proto().input_size());
    if (node.hasFailed()) return;
    if (given < 1 || given > inputs)
        return node.fail(DiagnosticCode::BadAttribute,
                         "num_scan_inputs is " + std::to_string(given) + " of " +
                             std::to_string(inputs) + " inputs",
                         "num_scan_inputs");
    const auto states = static_cast<size_t>(inputs - given);
    const auto count = static_cast<size_t>(given);
    const bool fits = graph->input_size() == inputs && node.outputCount() >= states &&
                      graph->output_size() == static_cast<int>(node.outputCount());
    if (!fits)
        return node.fail(DiagnosticCode::BadModel,
                         "the body's inputs and outputs do not fit the node's");
    std::vector<int64_t> axes = perSequence(node, "scan_input_axes", count);
    perSequence(node, "scan_input_directions", count);
    const size_t outputs = node.outputCount() - states;
    const std::vector<int64_t> outAxes = perSequence(node, "scan_output_axes", outputs);
    const std::vector<int64_t> reversed = perSequence(node, "scan_output_directions", outputs);
    Types params;
    for (size_t i = 0; i < states; ++i) params.push_back(node.type(i));
    std::vector<ValueRef> sequences;
    for (size_t i = 0; i < count && !node.hasFailed(); ++i) {
        TensorType element = node.type(states + i);
        axes[i] = node.axisOf(axes[i], static_cast<int64_t>(element.shape.size()));
        if (node.hasFailed()) return;
        element.shape.erase(element.shape.begin() + axes[i]);
        params.push_back(std::move(element));
        sequences.push_back(node.input(states + i));
    }
    const auto length = lengthOf(node, states, axes);
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
                                  : arranged(node, {id, i}, outAxes[i - states],
                                             reversed[i - states] == 1));
}

} // namespace tenon::compiler
