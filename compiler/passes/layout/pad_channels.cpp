// SPDX-License-Identifier: Apache-2.0
// PadChannels: a weight [O, I, KH, KW] whose O fills no whole vectors gets a few zero filters more,
// [O + p, I, KH, KW]; the result [N, O + p, H, W] is sliced to O again where it leaves the blocked
// part of the graph (a classifier of 1,000 channels runs in 63 vectors of 16 lanes instead of 125
// of 8). Convolutions of bytes have no other fast form than that of blocks: their results are
// sliced whoever reads them.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

constexpr size_t kChannelAxis = 1;
constexpr size_t kWeight = 1, kWeightZero = 3; ///< of qnn.conv2d

/// Channels of bytes that stand in one word.
constexpr int kWord = 4;

/// A convolution and what follows it alone, channel by channel.
struct Chain
{
    std::vector<NodeId> nodes;
    int64_t channels = 0;
    int64_t padded = 0;
};

/// A constant with one value per channel and nothing along the other axes.
bool isPerChannel(const Tensor& tensor, size_t axisFromEnd, int64_t channels)
{
    const std::vector<int64_t>& shape = tensor.shape();
    return shape.size() > axisFromEnd && tensor.size() == channels &&
           shape[shape.size() - 1 - axisFromEnd] == channels;
}

class ChannelPadder
{
public:
    ChannelPadder(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
        , m_lanes(std::min(context.facts.lanes(4), 16))
        , m_byteLanes(context.facts.vectorBytes < 16 || context.code.savesMemory ? kWord : m_lanes)
        , m_hasByteProducts(context.code.byteProducts.has_value())
    {
    }

    Patches run()
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const Chain chain = chainOf(node);
            if (chain.padded > chain.channels) patches.push_back(patchOf(chain));
        }
        return patches;
    }

private:
    Chain chainOf(const NodeRecord& conv) const
    {
        Chain chain;
        const bool isInteger = m_hasByteProducts && isOp(conv, qnnConv2dOp);
        if ((!isOp(conv, conv2dOp) && !isInteger) || conv.attrs.integer("groups", 1) != 1 ||
            conv.attrs.string("data_layout", "NCHW") != "NCHW" ||
            conv.attrs.string("kernel_layout", "OIHW") != "OIHW")
            return chain;
        const Tensor* weight = constantOf(m_module, conv.operands[1]);
        if (!weight || (!isInteger && weight->dtype() != kFloat32)) return chain;
        chain.channels = weight->shape()[0];
        const int lanes = isInteger ? m_byteLanes : m_lanes;
        if (isInteger && (channelBlock(chain.channels, lanes) > 0 || hasUnknownZeros(conv)))
            return chain;
        const int64_t padded = paddedChannels(chain.channels, lanes);
        chain.nodes = {conv.id};
        while (m_uses.hasOneUser(chain.nodes.back())) {
            const NodeRecord& user = m_module.node(m_uses.users(chain.nodes.back())[0]);
            if (!keepsChannels(user, chain.channels)) break;
            chain.nodes.push_back(user.id);
        }
        if (isInteger || leavesBlocks(chain)) chain.padded = padded;
        return chain;
    }

    /// The weight's zero points, where it may have some; null: they are zero.
    const Tensor* weightZeros(const NodeRecord& conv) const
    {
        return conv.operands.size() > kWeightZero ? constantOf(m_module, conv.operands[kWeightZero])
                                                  : nullptr;
    }
    bool hasUnknownZeros(const NodeRecord& conv) const
    {
        return conv.operands.size() > kWeightZero && conv.operands[kWeightZero].node.isValid() &&
               !weightZeros(conv);
    }

    /// Computes every channel from the same channel, with constants that can be padded.
    bool keepsChannels(const NodeRecord& node, int64_t channels) const
    {
        if (node.kind != NodeKind::Op || node.types.size() != 1) return false;
        if (factsOf(node).family == Family::Pooling)
            return node.attrs.string("layout", "NCHW") == "NCHW";
        if (isOp(node, biasAddOp))
            return normalizedAxis(node.attrs.integer("axis", 1), 4) == kChannelAxis &&
                   constantOf(m_module, node.operands[1]) != nullptr;
        if (isOp(node, qnnRequantizeOp))
            return std::all_of(node.operands.begin() + 1, node.operands.end(), [&](ValueRef value) {
                const Tensor* constant = constantOf(m_module, value);
                return constant ? constant->size() == 1 || isPerChannel(*constant, 2, channels)
                                : !value.node.isValid();
            });
        if (isOneOf(node, addOp, subtractOp, multiplyOp, maximumOp, minimumOp))
            return std::any_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
                const Tensor* constant = constantOf(m_module, operand);
                return constant && (constant->size() == 1 || isPerChannel(*constant, 2, channels));
            });
        const OpDef* op = findOp(node.op);
        return op && op->pattern == Pattern::Elementwise && node.operands.size() == 1;
    }

    /// True when every reader of the chain takes plain values anyway.
    bool leavesBlocks(const Chain& chain) const
    {
        const std::span<const NodeId> users = m_uses.users(chain.nodes.back());
        return std::all_of(users.begin(), users.end(), [&](NodeId id) {
            const NodeRecord& user = m_module.node(id);
            if (isOp(user, concatenateOp)) {
                const Shape& shape = user.types.at(0).shape;
                return shape.size() != 4 || !shape[kChannelAxis].isConst() ||
                       channelBlock(shape[kChannelAxis].value(), m_lanes) == 0;
            }
            return isOneOf(user, reshapeOp, transposeOp, softmaxOp, logSoftmaxOp, denseOp,
                           squeezeOp, splitOp, takeOp);
        });
    }

    /// The constant with zeros behind its channels, which are its first axis longer than one;
    /// `filler`: in the place of zero, of bytes.
    ValueRef padded(PatchWriter& patch, ValueRef value, const Chain& chain, int filler) const
    {
        const Tensor* constant = constantOf(m_module, value);
        if (!constant || constant->size() == 1) return value;
        std::vector<int64_t> shape = constant->shape();
        *std::find(shape.begin(), shape.end(), chain.channels) = chain.padded;
        return patch.constant(Tensor::make(constant->dtype(), shape,
                                           [&](std::span<std::byte> out) {
                                               const auto in = constant->bytes();
                                               std::memcpy(out.data(), in.data(), in.size());
                                               std::memset(out.data() + in.size(), filler,
                                                           out.size() - in.size());
                                           }),
                              m_module.node(value.node).name);
    }

    /// What stands for zero in operand `at`.
    int fillerOf(const NodeRecord& node, size_t at) const
    {
        const Tensor* zeros =
            isOp(node, qnnConv2dOp) && at == kWeight ? weightZeros(node) : nullptr;
        return zeros && zeros->size() == 1 ? static_cast<int>(zeros->integer(0)) : 0;
    }

    Patch patchOf(const Chain& chain) const
    {
        const NodeRecord& first = m_module.node(chain.nodes.front());
        PatchWriter patch(m_module, m_function.id, "pad-channels",
                          std::to_string(chain.channels) + " channels of " +
                              nodeLabel(m_module, first) + " fill " + std::to_string(chain.padded) +
                              " in whole vectors",
                          chain.nodes);
        for (const NodeId id : chain.nodes) {
            NodeRecord node = m_module.node(id);
            for (size_t i = 0; i < node.operands.size(); ++i)
                node.operands[i] = padded(patch, node.operands[i], chain, fillerOf(node, i));
            node.types.clear();
            patch.change(std::move(node));
        }
        const ValueRef last{chain.nodes.back(), 0};
        const auto axis = static_cast<int64_t>(kChannelAxis);
        patch.replace(last, patch.op(stridedSliceOp, {last},
                                     {{"axes", std::vector<int64_t>{axis}},
                                      {"begin", std::vector<int64_t>{0}},
                                      {"end", std::vector<int64_t>{chain.channels}}}));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    int m_lanes;
    int m_byteLanes;
    bool m_hasByteProducts;
};

} // namespace

Result<Patches> runPadChannels(const Module& module, const PassContext& context)
{
    return rewriteFunctions<ChannelPadder>(module, context);
}

} // namespace tenon::compiler
