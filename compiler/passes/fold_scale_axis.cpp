// SPDX-License-Identifier: Apache-2.0
// FoldScaleAxis: moves multiplications by a constant per channel into the weights of the
// convolution or dense layer before (also across a bias) or behind them. Needs SimplifyInference
// and folded constants; the products it writes are for the next FoldConstant.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"

#include <optional>

namespace tenon::compiler {
namespace {

/// Where a weighted operator has its channels; -1: cannot be scaled on that side.
struct Channels
{
    int64_t resultAxis = -1;       ///< of the result
    int64_t operandAxis = -1;      ///< of the data operand
    int64_t weightResultAxis = -1; ///< of the weight, result side
    int64_t weightOperandAxis = -1;
};

Channels channelsOf(const Module& module, const NodeRecord& node)
{
    Channels none;
    if (node.kind != NodeKind::Op || node.operands.size() < 2) return none;
    const auto weight = knownShape(module, node.operands[1]);
    if (!weight || !constantOf(module, node.operands[1])) return none;
    const int64_t groups = node.attrs.integer("groups", 1);
    if (isOp(node, conv2dOp) && node.attrs.string("data_layout", "NCHW") == "NCHW") {
        if (groups == 1) return {1, 1, 0, 1};
        const bool isDepthwise = weight->at(0) == groups && weight->at(1) == 1;
        return {1, isDepthwise ? 1 : -1, 0, isDepthwise ? 0 : -1};
    }
    if (isOp(node, conv2dTransposeOp)) return {groups == 1 ? 1 : -1, 1, groups == 1 ? 1 : -1, 0};
    if (isOp(node, denseOp)) return {1, 1, 0, 1};
    return none;
}

/// `scale` as a tensor that stands along `axis` of a value of rank `rank`: one element, or one per
/// channel along `channelAxis` of a value of shape `shape`; nothing when it is neither.
std::optional<Tensor> scaleAlong(const Module& module, ValueRef scale, const Shape& shape,
                                 int64_t channelAxis, int64_t axis, size_t rank)
{
    const Tensor* tensor = constantOf(module, scale);
    if (!tensor || !tensor->dtype().isFloat() || tensor->shape().size() > shape.size())
        return std::nullopt;
    if (tensor->size() == 1) return tensor->reshaped({});
    const size_t missing = shape.size() - tensor->shape().size();
    for (size_t i = 0; i < tensor->shape().size(); ++i) {
        const bool isChannel = static_cast<int64_t>(i + missing) == channelAxis;
        const Dim wanted = isChannel ? shape[i + missing] : Dim(1);
        if (!(Dim(tensor->shape()[i]) == wanted)) return std::nullopt;
    }
    std::vector<int64_t> along(rank, 1);
    along[static_cast<size_t>(axis)] = tensor->size();
    return tensor->reshaped(std::move(along));
}

struct Site
{
    const Module& module;
    const GraphFunction& function;
    const UseIndex& uses;
};

/// Index of the constant operand of a two-operand node; the other one is data.
std::optional<size_t> constantSide(const Module& module, const NodeRecord& node)
{
    if (node.operands.size() != 2) return std::nullopt;
    if (constantOf(module, node.operands[1])) return 1;
    if (constantOf(module, node.operands[0])) return 0;
    return std::nullopt;
}

NodeRecord withWeight(const NodeRecord& node, ValueRef weight, const NodeRecord& absorbed)
{
    NodeRecord out = node;
    out.operands[1] = weight;
    out.origin = mergedOrigin(out.origin, absorbed.origin);
    return out;
}

/// multiply(layer(x, w), s) and multiply(add(layer(x, w), b), s).
std::optional<Patch> foldIntoProducer(const Site& site, const NodeRecord& product)
{
    const Module& module = site.module;
    const auto side = constantSide(module, product);
    if (!isOp(product, multiplyOp) || !side) return std::nullopt;
    const ValueRef scale = product.operands[*side];
    const ValueRef scaled = product.operands[1 - *side];
    const Shape& shape = module.type(scaled).shape;
    if (!site.uses.hasOneUser(scaled.node) || product.types.at(0).shape != shape)
        return std::nullopt;

    const NodeRecord* layer = &module.node(scaled.node);
    const NodeRecord* bias = nullptr;
    std::optional<size_t> biasSide;
    if (isOp(*layer, addOp) && (biasSide = constantSide(module, *layer))) {
        bias = layer;
        const ValueRef inner = bias->operands[1 - *biasSide];
        layer = &module.node(inner.node);
        if (!site.uses.hasOneUser(layer->id) || module.type(inner).shape != shape)
            return std::nullopt;
    }
    const Channels channels = channelsOf(module, *layer);
    if (channels.weightResultAxis < 0) return std::nullopt;
    const size_t weightRank = module.type(layer->operands[1]).shape.size();
    std::optional<Tensor> along = scaleAlong(module, scale, shape, channels.resultAxis,
                                             channels.weightResultAxis, weightRank);
    if (!along) return std::nullopt;

    std::vector<NodeId> from{layer->id};
    if (bias) from.push_back(bias->id);
    from.push_back(product.id);
    PatchWriter patch(module, site.function.id, "fold-scale-into-" + layer->op.substr(3),
                      "the scale of " + nodeLabel(module, product) +
                          " is constant along the channels of " + nodeLabel(module, *layer),
                      std::move(from));
    const ValueRef weight =
        patch.op(multiplyOp, {layer->operands[1], patch.constant(std::move(*along))});
    patch.change(withWeight(*layer, weight, product));
    if (bias) {
        NodeRecord shifted = *bias;
        shifted.operands[*biasSide] = patch.op(multiplyOp, {bias->operands[*biasSide], scale});
        shifted.origin = mergedOrigin(shifted.origin, product.origin);
        patch.change(std::move(shifted));
    }
    patch.replaceAndErase(product.id, scaled);
    return patch.take();
}

/// layer(multiply(x, s), w).
std::optional<Patch> foldIntoConsumer(const Site& site, const NodeRecord& layer)
{
    const Module& module = site.module;
    const Channels channels = channelsOf(module, layer);
    if (channels.weightOperandAxis < 0) return std::nullopt;
    const NodeRecord& product = module.node(layer.operands[0].node);
    const auto side = constantSide(module, product);
    if (!isOp(product, multiplyOp) || !side || !site.uses.hasOneUser(product.id))
        return std::nullopt;
    const ValueRef data = product.operands[1 - *side];
    const Shape& shape = module.type(data).shape;
    if (module.type(layer.operands[0]).shape != shape) return std::nullopt;
    const size_t weightRank = module.type(layer.operands[1]).shape.size();
    std::optional<Tensor> along =
        scaleAlong(module, product.operands[*side], shape, channels.operandAxis,
                   channels.weightOperandAxis, weightRank);
    if (!along) return std::nullopt;

    PatchWriter patch(module, site.function.id, "fold-scale-into-" + layer.op.substr(3),
                      "the scale of " + nodeLabel(module, product) +
                          " is constant along the input channels of " + nodeLabel(module, layer),
                      {product.id, layer.id});
    const ValueRef weight =
        patch.op(multiplyOp, {layer.operands[1], patch.constant(std::move(*along))});
    NodeRecord changed = withWeight(layer, weight, product);
    changed.operands[0] = data;
    patch.change(std::move(changed));
    patch.erase(product.id);
    return patch.take();
}

} // namespace

Result<Patches> runFoldScaleAxis(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        const Site site{module, *function, uses};
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Op) continue;
            std::optional<Patch> patch = foldIntoProducer(site, node);
            if (!patch) patch = foldIntoConsumer(site, node);
            if (patch) patches.push_back(std::move(*patch));
        }
    }
    return patches;
}

} // namespace tenon::compiler
