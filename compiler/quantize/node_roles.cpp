// SPDX-License-Identifier: Apache-2.0
// What each operator of ONNX can do with integers, as our kernels and ONNX Runtime's do it.
#include "compiler/quantize/quantize_plan.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

using tenon_onnx::NodeProto;

constexpr std::array<std::string_view, 18> kFunctions{
    "Relu", "Clip", "LeakyRelu", "Sigmoid",  "Tanh",     "HardSigmoid",
    "Elu",  "Selu", "Celu",      "Softplus", "Softsign", "HardSwish",
    "Gelu", "Mish", "Swish",     "Abs",      "Neg",      "ThresholdedRelu"};
/// Only inside a function of one tensor that has more nodes: their own results have no good range.
constexpr std::array<std::string_view, 2> kInnerFunctions{"Erf", "Exp"};
constexpr std::array<std::string_view, 4> kArithmetic{"Add", "Sub", "Mul", "Div"};
constexpr std::array<std::string_view, 15> kMoving{
    "MaxPool", "GlobalMaxPool", "Reshape",      "Flatten",      "Transpose",
    "Squeeze", "Unsqueeze",     "Slice",        "Split",        "Gather",
    "Expand",  "Tile",          "DepthToSpace", "SpaceToDepth", "Identity"};
constexpr std::array<std::string_view, 4> kComputing{"GlobalAveragePool", "AveragePool",
                                                     "ReduceMean", "Concat"};

constexpr std::array<std::string_view, 4> kLayers{"Conv", "ConvTranspose", "Gemm", "MatMul"};

template <size_t n>
bool contains(const std::array<std::string_view, n>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

PlannedNode floatBecause(std::string reason) { return {NodeRole::Float, std::move(reason)}; }

int layersIn(const tenon_onnx::GraphProto& body);

/// Layers in the bodies of a node, and of nodes in there.
int layersInBodies(const NodeProto& node)
{
    int count = 0;
    for (const tenon_onnx::AttributeProto& attr : node.attribute()) {
        if (attr.has_g()) count += layersIn(attr.g());
        for (const auto& body : attr.graphs()) count += layersIn(body);
    }
    return count;
}

int layersIn(const tenon_onnx::GraphProto& body)
{
    int count = 0;
    for (const NodeProto& node : body.node())
        count += (contains(kLayers, node.op_type()) ? 1 : 0) + layersInBodies(node);
    return count;
}

const Tensor* weightOf(const FloatGraph& graph, const NodeProto& node)
{
    const Tensor* weight = node.input_size() > 1 ? graph.constant(node.input(1)) : nullptr;
    return weight && weight->dtype() == kFloat32 && weight->size() > 0 ? weight : nullptr;
}

PlannedNode convRole(const FloatGraph& graph, const NodeProto& node)
{
    const Tensor* weight = weightOf(graph, node);
    if (!weight) return floatBecause("its weights are no 32-bit float constant");
    const std::vector<int64_t>& shape = weight->shape();
    if (shape.size() < 3 || shape.size() > 5)
        return floatBecause("there are integer kernels for 1 to 3 spatial axes only");
    if (shape.size() == 5 && shape[2] > 1 && integerOf(node, "group", 1) != 1)
        return floatBecause("there are no integer kernels for groups of several frames");
    if (node.input_size() > 2 && !node.input(2).empty() && !graph.constant(node.input(2)))
        return floatBecause("its bias is no constant");
    return {NodeRole::Layer, {}};
}

PlannedNode convTransposeRole(const FloatGraph& graph, const NodeProto& node)
{
    const PlannedNode role = convRole(graph, node);
    if (role.role != NodeRole::Layer) return role;
    const tenon_onnx::AttributeProto* dilations = attributeOf(node, "dilations");
    const bool isDilated =
        dilations && std::any_of(dilations->ints().begin(), dilations->ints().end(),
                                 [](int64_t each) { return each != 1; });
    if (graph.constant(node.input(1))->shape().size() != 4 || integerOf(node, "group", 1) != 1 ||
        isDilated)
        return floatBecause("there are integer kernels for 2 spatial axes without groups only");
    return role;
}

PlannedNode gemmRole(const FloatGraph& graph, const NodeProto& node)
{
    const Tensor* weight = weightOf(graph, node);
    if (!weight) return floatBecause("neither operand is a constant");
    if (weight->shape().size() != 2) return floatBecause("its weights are no matrix");
    if (node.op_type() == "MatMul") return {NodeRole::Layer, {}};
    if (integerOf(node, "transA", 0) != 0) return floatBecause("its data are transposed");
    if (node.input_size() > 2 && !node.input(2).empty()) {
        const Tensor* bias = graph.constant(node.input(2));
        const int64_t outputs = weight->shape()[integerOf(node, "transB", 0) != 0 ? 0 : 1];
        if (!bias || bias->dtype() != kFloat32) return floatBecause("its bias is no constant");
        const bool isRow =
            bias->size() == 1 || (bias->size() == outputs && bias->shape().back() == outputs);
        if (!isRow) return floatBecause("its bias is not one value per output");
    }
    return {NodeRole::Layer, {}};
}

PlannedNode arithmeticRole(const FloatGraph& graph, const NodeProto& node)
{
    if (node.input_size() != 2) return floatBecause("it has no two operands");
    const auto isScalar = [&](int at) {
        const Tensor* value = graph.constant(node.input(at));
        return value && value->size() == 1;
    };
    // What divides by data, or takes a number's quotient, has no good range.
    if (isScalar(1) || (isScalar(0) && node.op_type() != "Div")) return {NodeRole::Function, {}};
    if (node.op_type() == "Div") return floatBecause("there is no integer kernel for quotients");
    return {NodeRole::Computing, {}};
}

PlannedNode padRole(const FloatGraph& graph, const NodeProto& node)
{
    const tenon_onnx::AttributeProto* mode = attributeOf(node, "mode");
    if (mode && mode->s() != "constant") return {NodeRole::Moving, {}};
    if (node.input_size() > 2 && !node.input(2).empty()) {
        const Tensor* value = graph.constant(node.input(2));
        if (!value || value->size() != 1 || value->number(0) != 0)
            return floatBecause("it pads with what is not 0");
    }
    return {NodeRole::Moving, {}};
}

PlannedNode standardRole(const FloatGraph& graph, const NodeProto& node)
{
    const std::string& op = node.op_type();
    if (op == "Conv") return convRole(graph, node);
    if (op == "ConvTranspose") return convTransposeRole(graph, node);
    if (op == "Gemm" || op == "MatMul") return gemmRole(graph, node);
    if (op == "Pad") return padRole(graph, node);
    if (contains(kArithmetic, op)) return arithmeticRole(graph, node);
    if (contains(kFunctions, op) || contains(kInnerFunctions, op)) return {NodeRole::Function, {}};
    if (contains(kComputing, op)) return {NodeRole::Computing, {}};
    if (contains(kMoving, op)) return {NodeRole::Moving, {}};
    if (op == "PRelu") {
        if (!graph.constant(node.input(1))) return floatBecause("its slopes are no constant");
        return {NodeRole::Function, {}};
    }
    if (op == "Resize") {
        const tenon_onnx::AttributeProto* mode = attributeOf(node, "mode");
        const bool isNearest = !mode || mode->s() == "nearest";
        return {isNearest ? NodeRole::Moving : NodeRole::Computing, {}};
    }
    return floatBecause("there is no integer kernel for " + op);
}

} // namespace

std::vector<int> activationInputs(const FloatGraph& graph, const NodeProto& node)
{
    std::vector<int> out;
    const bool isFirstOnly = node.op_type() == "Resize" || node.op_type() == "Pad" ||
                             node.op_type() == "Clip" || node.op_type() == "Conv" ||
                             node.op_type() == "ConvTranspose" || node.op_type() == "Gemm";
    for (int i = 0; i < node.input_size() && (i == 0 || !isFirstOnly); ++i)
        if (!node.input(i).empty() && !graph.isConstant(node.input(i)) &&
            graph.isFloat32(node.input(i)))
            out.push_back(i);
    return out;
}

PlannedNode roleOf(const FloatGraph& graph, const NodeProto& node)
{
    if (const int layers = layersInBodies(node); layers > 0)
        return floatBecause(std::to_string(layers) + (layers == 1 ? " layer lies" : " layers lie") +
                            " inside its " + (node.op_type() == "If" ? "branches" : "body") +
                            ", where everything stays in float");
    if (node.output_size() == 0 || !graph.isFloat32(node.output(0))) return floatBecause("");
    if (!node.domain().empty() && node.domain() != "ai.onnx")
        return floatBecause("it is of the domain " + quoted(node.domain()));
    if (activationInputs(graph, node).empty()) return floatBecause("");
    return standardRole(graph, node);
}

} // namespace tenon::compiler
