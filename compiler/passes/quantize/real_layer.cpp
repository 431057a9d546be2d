// SPDX-License-Identifier: Apache-2.0
// A layer stands in front of its bias, and both in front of slopes.
#include "compiler/passes/quantize/real_layer.h"

#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

bool isLayer(const NodeRecord& node) { return isOneOf(node, conv2dOp, conv2dTransposeOp, denseOp); }

bool isPlainLayout(const NodeRecord& node)
{
    return node.attrs.string("data_layout", "NCHW") == "NCHW" &&
           node.attrs.string("kernel_layout", "OIHW") == "OIHW" &&
           node.attrs.string("out_layout", "").size() < 5;
}

/// A constant of one number, or of one per channel.
std::optional<std::vector<double>> channelValues(const QuantizationSite& site, ValueRef operand,
                                                 int64_t channels, size_t fromEnd)
{
    const std::optional<Tensor> value = constantValue(site, operand);
    if (!value || !value->dtype().isFloat()) return std::nullopt;
    if (value->size() != 1) {
        const std::vector<int64_t>& shape = value->shape();
        const bool fits = value->size() == channels && shape.size() >= fromEnd &&
                          shape[shape.size() - fromEnd] == channels;
        if (!fits) return std::nullopt;
    }
    std::vector<double> out = value->numbers();
    if (out.size() == 1) out.assign(static_cast<size_t>(channels), out[0]);
    return out;
}

/// Nothing but the slopes, or one node, reads it.
bool isOwn(const QuantizationSite& site, NodeId id, const std::optional<Slopes>& slopes)
{
    if (!slopes || slopes->x.node != id) return site.uses.hasOneUser(id);
    const auto users = site.uses.users(id);
    return !site.uses.isResult(id) && std::all_of(users.begin(), users.end(), [&](NodeId user) {
        return std::find(slopes->nodes.begin(), slopes->nodes.end(), user) != slopes->nodes.end();
    });
}

} // namespace

std::optional<RealLayer> readRealLayer(const QuantizationSite& site, ValueRef value)
{
    RealLayer layer;
    layer.slopes = readSlopes(site, value);
    const NodeRecord* node = &site.module.node((layer.slopes ? layer.slopes->x : value).node);
    const bool mayBeBias = isOp(*node, biasAddOp) || isOp(*node, addOp);
    if (mayBeBias && isOwn(site, node->id, layer.slopes)) {
        // The layer stands on either side of an addition.
        const bool isFirst = isLayer(site.module.node(node->operands[0].node));
        if (!isFirst && isOp(*node, biasAddOp)) return std::nullopt;
        layer.bias = node->operands[isFirst ? 1 : 0];
        layer.biasNode = node->id;
        layer.consumed.push_back(node->id);
        node = &site.module.node(node->operands[isFirst ? 0 : 1].node);
    }
    if (!isLayer(*node) || !isPlainLayout(*node) || !isOwn(site, node->id, layer.slopes))
        return std::nullopt;
    layer.consumed.insert(layer.consumed.begin(), node->id);
    if (layer.slopes)
        layer.consumed.insert(layer.consumed.end(), layer.slopes->nodes.begin(),
                              layer.slopes->nodes.end());
    layer.node = node;
    layer.channelRank = isOp(*node, denseOp) ? 1 : 3;
    return layer;
}

std::optional<std::vector<double>> biasValues(const QuantizationSite& site, const RealLayer& layer,
                                              int64_t channels)
{
    if (!layer.bias.node.isValid()) return std::vector<double>(static_cast<size_t>(channels), 0.0);
    const NodeRecord& add = site.module.node(layer.biasNode);
    // A bias of higher rank than the sums would give the result more dimensions.
    if (add.types.at(0).shape != layer.node->types.at(0).shape) return std::nullopt;
    return channelValues(site, layer.bias, channels, isOp(add, biasAddOp) ? 1 : layer.channelRank);
}

std::optional<std::vector<double>> slopeValues(const QuantizationSite& site, const RealLayer& layer,
                                               int64_t channels)
{
    if (!layer.slopes) return std::vector<double>();
    // Results of phases of a transposed convolution come in other shapes.
    const bool isPlain = !isOp(*layer.node, conv2dTransposeOp);
    return isPlain ? channelValues(site, layer.slopes->slope, channels, layer.channelRank)
                   : std::nullopt;
}

std::vector<int64_t> channelShape(const RealLayer& layer, int64_t channels)
{
    std::vector<int64_t> shape(layer.channelRank, 1);
    shape[0] = channels;
    return shape;
}

} // namespace tenon::compiler
