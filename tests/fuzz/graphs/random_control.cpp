// SPDX-License-Identifier: Apache-2.0
// The kinds of nodes that only the VM runs: control flow and sizes out of data.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

using core::kFloat32;

// -----------------------------------------------------------------------

void addBodyValue(tenon_onnx::ValueInfoProto& info, const std::string& name, int type,
                  const Dims& shape)
{
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const int64_t dim : shape) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

void addBodyNode(tenon_onnx::GraphProto& graph, const std::string& op,
                 const std::vector<std::string>& inputs, const std::string& output)
{
    tenon_onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
}

tenon_onnx::GraphProto& addBody(tenon_onnx::NodeProto& node, const std::string& name)
{
    auto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(tenon_onnx::AttributeProto::GRAPH);
    attr.mutable_g()->set_name(name);
    return *attr.mutable_g();
}

void branch(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    const GraphValue chooser = b.addInput({1});
    const std::string condition = b.newName();
    b.addNode("Greater", {chooser, b.addConstant({1})}, {condition});
    auto& node = b.apply("If", {{condition, core::kBool, {1}}}, x.shape);
    const char* const ops[] = {"Neg", "Tanh", "Relu", "Abs"};
    for (const char* which : {"then_branch", "else_branch"}) {
        tenon_onnx::GraphProto& body = addBody(node, which);
        const std::string out = b.newName();
        addBodyNode(body, ops[b.pick(0, 3)], {x.name}, out);
        addBodyValue(*body.add_output(), out, tenon_onnx::TensorProto::FLOAT, x.shape);
    }
    b.markVm();
}

void repeat(GraphBuilder& b)
{
    using tenon_onnx::TensorProto;
    const GraphValue x = b.anyValue();
    const GraphValue step = b.addConstant({}, -0.5, 0.5);
    const int64_t trips = b.pick(0, 4);
    const GraphValue count = b.addIntegers({trips}, true);
    const std::string last = b.newName(), all = b.newName(), p = b.newName();
    Dims collected = x.shape;
    collected.insert(collected.begin(), trips);
    auto& node = b.addNode("Loop", {count, {"", core::kBool, {}}, x}, {last, all});
    tenon_onnx::GraphProto& body = addBody(node, "body");
    addBodyValue(*body.add_input(), p + "i", TensorProto::INT64, {});
    addBodyValue(*body.add_input(), p + "c", TensorProto::BOOL, {});
    addBodyValue(*body.add_input(), p + "v", TensorProto::FLOAT, x.shape);
    addBodyNode(body, "Identity", {p + "c"}, p + "d");
    addBodyNode(body, "Add", {p + "v", step.name}, p + "s");
    addBodyNode(body, "Tanh", {p + "s"}, p + "w");
    addBodyNode(body, "Mul", {p + "v", p + "w"}, p + "y");
    addBodyValue(*body.add_output(), p + "d", TensorProto::BOOL, {});
    addBodyValue(*body.add_output(), p + "w", TensorProto::FLOAT, x.shape);
    addBodyValue(*body.add_output(), p + "y", TensorProto::FLOAT, x.shape);
    if (trips > 0) b.remember({all, kFloat32, collected, false});
    b.remember({last, kFloat32, x.shape, false});
    b.markVm();
}

/// Keeps what is positive, which depends on the data, and sums it: known sizes again.
void keepSome(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    const GraphValue exact = x.isExact ? x : b.addInput(x.shape);
    const std::string condition = b.newName(), flat = b.newName(), kept = b.newName();
    b.addNode("Greater", {exact, b.addConstant({})}, {condition});
    b.addNode("Reshape", {{condition, core::kBool, {}}, b.addIntegers({-1})}, {flat});
    b.addNode("Compress", {x, {flat, core::kBool, {}}}, {kept});
    const GraphValue some{kept, kFloat32, {-1}, false};
    auto& node = b.apply(b.chance(50) ? "ReduceL1" : "ReduceSumSquare", {some}, {1});
    setInt(node, "keepdims", 1);
    b.markVm();
}

/// Running sums over the first axis.
void scan(GraphBuilder& b)
{
    using tenon_onnx::TensorProto;
    const GraphValue x = b.valueOfRank(2);
    const Dims row{x.shape[1]};
    const GraphValue start = b.addConstant(row);
    const std::string last = b.newName(), all = b.newName(), p = b.newName();
    auto& node = b.addNode("Scan", {start, x}, {last, all});
    setInt(node, "num_scan_inputs", 1);
    setInts(node, "scan_input_directions", {b.pick(0, 1)});
    tenon_onnx::GraphProto& body = addBody(node, "body");
    addBodyValue(*body.add_input(), p + "v", TensorProto::FLOAT, row);
    addBodyValue(*body.add_input(), p + "e", TensorProto::FLOAT, row);
    addBodyNode(body, "Add", {p + "v", p + "e"}, p + "w");
    addBodyNode(body, "Tanh", {p + "w"}, p + "y");
    addBodyValue(*body.add_output(), p + "w", TensorProto::FLOAT, row);
    addBodyValue(*body.add_output(), p + "y", TensorProto::FLOAT, row);
    b.remember({last, kFloat32, row, false});
    b.remember({all, kFloat32, x.shape, false});
    b.markVm();
}

/// Where values are positive, or which there are, summed up to known sizes.
void find(GraphBuilder& b)
{
    const GraphValue x = b.addInput({b.pick(1, 4), b.pick(1, 5)}, core::kInt32);
    const std::string found = b.newName();
    if (b.chance(50)) {
        b.addNode("NonZero", {x}, {found});
        const GraphValue places = b.cast({found, core::kInt64, {2, -1}}, kFloat32);
        b.apply("ReduceL1", {places}, {1, 1});
    } else {
        const GraphValue numbers = b.cast(x, kFloat32);
        b.addNode("Unique", {numbers}, {found});
        b.apply("ReduceL1", {{found, kFloat32, {-1}}}, {1});
    }
    b.markVm();
}

void suppress(GraphBuilder& b)
{
    const int64_t boxes = b.pick(2, 8);
    const GraphValue at = b.addInput({1, boxes, 2}), scores = b.addInput({1, 2, boxes});
    b.apply("Add", {at, b.addConstant({}, 1, 2)}, at.shape);
    const GraphValue far = b.last();
    setInt(b.apply("Concat", {at, far}, {1, boxes, 4}), "axis", 2);
    const std::string chosen = b.newName();
    b.addNode("NonMaxSuppression",
              {b.last(), scores, b.addIntegers({3}), b.addConstant({1}, 0.5, 0.5)}, {chosen});
    const GraphValue rows = b.cast({chosen, core::kInt64, {-1, 3}}, kFloat32);
    b.apply("ReduceL1", {rows}, {1, 1});
    b.markVm();
}

} // namespace

void addVmNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {branch, repeat, keepSome, scan, find, suppress};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
