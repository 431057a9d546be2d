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

} // namespace

void addVmNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {branch, repeat, keepSome};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
