// SPDX-License-Identifier: Apache-2.0
// PadChannels: a weight [O, I, KH, KW] whose O fills no whole vectors gets a few zero filters more,
// [O + p, I, KH, KW]; the result [N, O + p, H, W] is sliced to O again where it leaves the blocked
// part of the graph (a classifier of 1,000 channels runs in 63 vectors of 16 lanes instead of 125
// of 8). Convolutions of bytes have no other fast form than that of blocks: a depthwise one behind
// them gets as many channels, others that read the result get zero weights [Q, O + p, KH, KW], and
// it is sliced where anybody else reads it.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/channel_classes.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/longer_constant.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"
#include "compiler/passes/use_index.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kFilterAxis = 0, kPaddedAxis = 1;
constexpr size_t kWeight = 1, kWeightZero = 3; ///< of qnn.conv2d

/// Channels of bytes that stand in one word.
constexpr int kWord = 4;

/// A convolution and what follows it alone, channel by channel.
struct Chain
{
    std::vector<NodeId> nodes;
    std::vector<NodeId> readers; ///< convolutions of all channels, where nobody else reads the last
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
        , m_lanes(blockLanes(context.facts))
        , m_byteLanes(byteLanes(context))
        , m_facts(context.facts)
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
        if (isInteger && (byteBlock(chain.channels, lanes, m_facts) > 0 || hasUnknownZeros(conv)))
            return chain;
        const int64_t padded = paddedChannels(chain.channels, lanes);
        chain.nodes = {conv.id};
        while (m_uses.hasOneUser(chain.nodes.back()) && isImage(chain.nodes.back())) {
            const NodeRecord& user = m_module.node(m_uses.users(chain.nodes.back())[0]);
            if (!keepsChannels(user, chain.channels)) break;
            chain.nodes.push_back(user.id);
        }
        if (isInteger || leavesBlocks(chain)) chain.padded = padded;
        if (isInteger) chain.readers = readersOf(chain);
        return chain;
    }

    /// The constant weight of a convolution of bytes whose zero points are known.
    const Tensor* weightOfBytes(const NodeRecord& node) const
    {
        const bool isLayer = isOp(node, qnnConv2dOp) && !hasUnknownZeros(node);
        return isLayer ? constantOf(m_module, node.operands[kWeight]) : nullptr;
    }

    /// Depthwise, channel by channel.
    bool isDepthwise(const NodeRecord& node, int64_t channels) const
    {
        const Tensor* weight = weightOfBytes(node);
        return weight && node.attrs.integer("groups", 1) == channels &&
               weight->shape()[kFilterAxis] == channels && weight->shape()[kPaddedAxis] == 1;
    }

    /// All who read the chain, when they can read zeros behind its channels.
    std::vector<NodeId> readersOf(const Chain& chain) const
    {
        const NodeId last = chain.nodes.back();
        std::vector<NodeId> readers;
        if (m_uses.isResult(last)) return readers;
        for (const NodeId id : m_uses.users(last)) {
            const NodeRecord& user = m_module.node(id);
            if (!weightOfBytes(user) || user.attrs.integer("groups", 1) != 1) return {};
            const Tensor* zeros = weightZeros(user);
            if (zeros && zeros->size() != 1) return {};
            if (std::find(readers.begin(), readers.end(), id) == readers.end())
                readers.push_back(id);
        }
        return readers;
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

    bool isImage(NodeId id) const { return m_module.type({id, 0}).shape.size() == 4; }

    /// Computes every channel from the same channel, with constants that can be padded.
    bool keepsChannels(const NodeRecord& node, int64_t channels) const
    {
        if (node.kind != NodeKind::Op || node.types.size() != 1) return false;
        if (isDepthwise(node, channels) || reducesRowsOrColumns(node, 4)) return true;
        if (factsOf(node).family == Family::Pooling)
            return node.attrs.string("layout", "NCHW") == "NCHW";
        if (isOp(node, biasAddOp))
            return normalizedAxis(node.attrs.integer("axis", 1), 4) == kPaddedAxis &&
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
                return shape.size() != 4 || !shape[kPaddedAxis].isConst() ||
                       channelBlock(shape[kPaddedAxis].value(), m_lanes) == 0;
            }
            return isOneOf(user, reshapeOp, transposeOp, softmaxOp, logSoftmaxOp, denseOp,
                           squeezeOp, splitOp, takeOp);
        });
    }

    /// The constant with `filler` behind its channels along `axis`.
    ValueRef padded(PatchWriter& patch, ValueRef value, size_t axis, int64_t more, int filler) const
    {
        return patch.constant(longer(*constantOf(m_module, value), axis, more, filler),
                              m_module.node(value.node).name);
    }

    /// The node of the chain on all its channels.
    NodeRecord widened(PatchWriter& patch, NodeRecord node, const Chain& chain) const
    {
        const int64_t more = chain.padded - chain.channels;
        const bool isPerChannel = isDepthwise(node, chain.channels);
        for (size_t i = 0; i < node.operands.size(); ++i) {
            const Tensor* constant = constantOf(m_module, node.operands[i]);
            if (!constant || constant->size() == 1) continue;
            const std::vector<int64_t>& shape = constant->shape();
            const auto axis = std::find(shape.begin(), shape.end(), chain.channels);
            node.operands[i] =
                padded(patch, node.operands[i], static_cast<size_t>(axis - shape.begin()), more,
                       fillerOf(node, i));
        }
        if (isPerChannel) node.attrs.set("groups", chain.padded);
        node.types.clear();
        return node;
    }

    /// A convolution that reads the chain, with zero weights for the channels that are added.
    NodeRecord reading(PatchWriter& patch, NodeRecord node, const Chain& chain) const
    {
        node.operands[kWeight] = padded(patch, node.operands[kWeight], kPaddedAxis,
                                        chain.padded - chain.channels, fillerOf(node, kWeight));
        node.types.clear();
        return node;
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
        std::vector<NodeId> touched = chain.nodes;
        touched.insert(touched.end(), chain.readers.begin(), chain.readers.end());
        PatchWriter patch(m_module, m_function.id, "pad-channels",
                          std::to_string(chain.channels) + " channels of " +
                              nodeLabel(m_module, first) + " fill " + std::to_string(chain.padded) +
                              " in whole vectors",
                          touched);
        for (const NodeId id : chain.nodes) patch.change(widened(patch, m_module.node(id), chain));
        for (const NodeId id : chain.readers)
            patch.change(reading(patch, m_module.node(id), chain));
        if (!chain.readers.empty()) return patch.take();
        const ValueRef last{chain.nodes.back(), 0};
        patch.replace(last, patch.op(stridedSliceOp, {last}, channelSliceAttrs(0, chain.channels)));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    int m_lanes;
    int m_byteLanes;
    const TargetFacts& m_facts;
    bool m_hasByteProducts;
};

} // namespace

Result<Patches> runPadChannels(const Module& module, const PassContext& context)
{
    return rewriteFunctions<ChannelPadder>(module, context);
}

} // namespace tenon::compiler
