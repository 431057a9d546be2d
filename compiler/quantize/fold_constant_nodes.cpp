// SPDX-License-Identifier: Apache-2.0
// Each such node is a model of its own, without inputs.
#include "compiler/quantize/fold_constant_nodes.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/quantize/float_graph.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

bool canFold(const FloatGraph& graph, const NodeProto& node)
{
    const bool hasBody =
        std::any_of(node.attribute().begin(), node.attribute().end(),
                    [](const auto& attr) { return attr.has_g() || attr.graphs_size() > 0; });
    return node.op_type() != "Constant" && !hasBody && node.input_size() > 0 &&
           node.output_size() == 1 && !node.op_type().starts_with("Random") &&
           graph.isFloat32(node.output(0)) &&
           std::all_of(node.input().begin(), node.input().end(), [&](const std::string& input) {
               return input.empty() || graph.constant(input);
           });
}

/// Nothing where it cannot be computed.
Tensor valueOf(const ModelProto& model, const FloatGraph& graph, const NodeProto& node)
{
    ModelProto alone;
    alone.set_ir_version(model.ir_version());
    *alone.mutable_opset_import() = model.opset_import();
    *alone.mutable_graph()->add_node() = node;
    for (const std::string& input : node.input())
        if (!input.empty())
            storeTensor(*graph.constant(input), input, *alone.mutable_graph()->add_initializer());
    auto& output = *alone.mutable_graph()->add_output();
    output.set_name(node.output(0));
    output.mutable_type()->mutable_tensor_type()->set_elem_type(tenon_onnx::TensorProto::FLOAT);
    const std::vector<Tensor> values = resultsOf(alone, std::numeric_limits<int64_t>::max());
    return values.size() == 1 ? values.front() : Tensor();
}

} // namespace

std::vector<Tensor> resultsOf(const ModelProto& model, int64_t most)
{
    const auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
    const auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, {}, "constant", {});
    if (!loaded || hasErrors(loaded->diagnostics)) return {};
    for (const ValueRef result : loaded->module.main().results) {
        const auto shape = constantShape(loaded->module.type(result).shape);
        if (!shape || elementCount(*shape) > most) return {};
    }
    auto values = evaluateGraph(loaded->module, {}, JobContext());
    return values ? *std::move(values) : std::vector<Tensor>();
}

void foldConstantNodes(ModelProto& model)
{
    auto& graph = *model.mutable_graph();
    for (int i = 0; i < graph.node_size();) {
        const FloatGraph view(graph);
        int found = i;
        while (found < graph.node_size() && !canFold(view, graph.node(found))) ++found;
        if (found == graph.node_size()) return;
        i = found;
        const std::string name = graph.node(i).output(0);
        const Tensor value = valueOf(model, view, graph.node(i));
        if (value.isNull() || value.dtype() != kFloat32 || view.isResult(name)) {
            ++i;
            continue;
        }
        storeTensor(value, name, *graph.add_initializer());
        graph.mutable_node()->DeleteSubrange(i, 1);
    }
}

} // namespace tenon::compiler
