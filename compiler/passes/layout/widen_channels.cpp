// SPDX-License-Identifier: Apache-2.0
// WidenChannels: values of C channels that fill no whole vectors, [N, C, H, W], get a few channels
// of zeros more, [N, C + p, H, W]: convolutions that make them zero filters, those that read them
// zero weights, [O, I, KH, KW] to [O + p, I, KH, KW] and [O, I + p, KH, KW] (HRNet's branches of 18
// channels become 24). Who reads them otherwise reads a slice. Bytes have no other fast form than
// that of whole words.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/channel_classes.h"
#include "compiler/passes/layout/group_merge.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/longer_constant.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tenon::compiler {
namespace {

/// The model of costs knows no smaller differences.
constexpr double kMargin = 0.85;
/// Where all layers are in blocks, or few channels are added, less can be lost.
constexpr double kSmallMargin = 0.95;
constexpr int64_t kFewOf = 8;
constexpr int kNarrowestBlock = 4;
constexpr size_t kChannelAxis = 1;

bool contains(const std::vector<NodeId>& nodes, NodeId id)
{
    return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

bool isConvolution(const NodeRecord& node) { return isOneOf(node, conv2dOp, qnnConv2dOp); }

class ChannelWidener
{
public:
    ChannelWidener(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_machine(layoutMachine(module, function, context))
        , m_classes(module, function)
        , m_byteLanes(context.code.byteProducts ? m_machine.byteLanes : 0)
    {
    }

    /// Classes side by side; those that share a convolution with one of them wait for another
    /// round.
    Patches run()
    {
        Patches patches;
        if (m_machine.lanes < kNarrowestBlock) return patches;
        std::set<NodeId> taken;
        for (const ChannelClass& own : m_classes.all()) {
            std::vector<NodeId> nodes = own.makers;
            for (const auto* more : {&own.padders, &own.passing, &own.readers})
                nodes.insert(nodes.end(), more->begin(), more->end());
            const bool isFree = std::none_of(nodes.begin(), nodes.end(),
                                             [&](NodeId id) { return taken.contains(id); });
            const int64_t width = isFree ? widthOf(own) : own.channels;
            if (width == own.channels) continue;
            taken.insert(nodes.begin(), nodes.end());
            patches.push_back(patchOf(own, width, nodes));
        }
        return patches;
    }

private:
    /// What stands on the other side of a class's convolutions. Two classes that fill no vectors,
    /// as those inside and around a residual block, have the faster forms only together: where the
    /// first of them is widened for it, the other one gains by itself in the next round.
    enum class Beside : uint8_t
    {
        AsIs,
        Filled
    };

    struct Widening
    {
        const ChannelClass& own;
        int64_t width;
        Beside beside;
    };

    bool mayGrow(const ChannelClass& own) const
    {
        return own.canGrow && !own.makers.empty() && own.channels >= kNarrowestBlock &&
               canGrowConstants(own);
    }

    /// Channels in whole blocks and units.
    static int64_t filledWidth(const ChannelClass& own, int64_t block)
    {
        const int64_t unit = std::lcm(block, own.unit);
        return (own.channels + unit - 1) / unit * unit;
    }

    /// The cheapest count of channels.
    int64_t widthOf(const ChannelClass& own) const
    {
        if (!mayGrow(own)) return own.channels;
        if (!own.hasFloatLayers) {
            if (m_byteLanes == 0) return own.channels;
            return byteBlock(own.channels, m_byteLanes, m_machine.facts) > 0
                       ? cheapestWidth(own, m_byteLanes)
                       : paddedChannels(own.channels, m_byteLanes);
        }
        return cheapestWidth(own, m_machine.lanes);
    }

    int64_t cheapestWidth(const ChannelClass& own, int lanes) const
    {
        if (own.channels % lanes == 0) return own.channels;
        int64_t best = own.channels;
        const double now = cycles(own, own.channels, Beside::AsIs);
        double least = now;
        for (int64_t block = lanes; block >= kNarrowestBlock; block /= 2) {
            const int64_t width = filledWidth(own, block);
            if (width == own.channels) continue;
            const bool isSmall = own.unit > 1 || kFewOf * (width - own.channels) <= own.channels;
            double cost = cycles(own, width, Beside::AsIs);
            if (block == lanes) cost = std::min(cost, cycles(own, width, Beside::Filled));
            if (cost >= std::min(least, (isSmall ? kSmallMargin : kMargin) * now)) continue;
            best = width;
            least = cost;
        }
        return best;
    }

    /// Operands of elementwise operators are numbers, or have a value per channel.
    bool canGrowConstants(const ChannelClass& own) const
    {
        return std::all_of(own.passing.begin(), own.passing.end(), [&](NodeId id) {
            const NodeRecord& node = m_module.node(id);
            return isConvolution(node) ||
                   std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
                       const Tensor* constant = constantOf(m_module, operand);
                       return !constant || isForAllChannels(*constant) || isOp(node, biasAddOp) ||
                              channelAxisOf(*constant, own.channels).has_value();
                   });
        });
    }

    static bool isForAllChannels(const Tensor& constant)
    {
        const size_t rank = constant.shape().size();
        return constant.size() == 1 || (rank < 3 ? rank != 1 : constant.shape()[rank - 3] == 1);
    }

    static std::optional<size_t> channelAxisOf(const Tensor& constant, int64_t channels)
    {
        const size_t rank = constant.shape().size();
        if (rank < 3 || constant.shape()[rank - 3] != channels) return std::nullopt;
        return rank - 3;
    }

    /// Groups are computed in blocks, which everything around them then has, too; other layers are
    /// plain where that is cheaper.
    double cycles(const ChannelClass& own, int64_t width, Beside beside) const
    {
        const bool mayBePlain = own.unit == 1;
        double sum = 0;
        const auto cost = [&](NodeId id) {
            return convolutionCost(id, {own, width, beside}, mayBePlain);
        };
        for (const NodeId id : own.makers) sum += cost(id);
        for (const NodeId id : own.passing) sum += passingCost(id, own, width);
        for (const NodeId id : own.readers)
            if (!contains(own.makers, id)) sum += cost(id);
        if (width == own.channels) return sum;
        for (const ValueRef value : own.leaving)
            sum += transformCycles(m_module.type(value), m_machine.facts);
        return sum;
    }

    /// With the class's values plain; those on the other side have blocks where they fill them.
    double plainCost(const NodeRecord& node, const BlockableConvolution& conv,
                     const ChannelClass& own) const
    {
        const double plain = convolutionCycles(conv, 0, 0, m_machine);
        const bool readsOwn = isOf(node.operands[0], own), makesOwn = isOf({node.id, 0}, own);
        if (readsOwn && !makesOwn && conv.outChannels % m_machine.lanes == 0)
            return std::min(plain + transformCycles(node.types[0], m_machine.facts),
                            convolutionCycles(conv, 0, m_machine.lanes, m_machine));
        if (makesOwn && !readsOwn && conv.inChannels % m_machine.lanes == 0)
            return plain + transformCycles(m_module.type(node.operands[0]), m_machine.facts);
        return plain;
    }

    /// Channels of a class that may fill whole vectors, with those that it would get.
    std::optional<int64_t> filledChannels(ValueRef value) const
    {
        const auto index = m_classes.classOf(value);
        if (!index) return std::nullopt;
        const ChannelClass& other = m_classes.all()[*index];
        if (!mayGrow(other) || !other.hasFloatLayers) return std::nullopt;
        return filledWidth(other, m_machine.lanes);
    }

    /// In the widest blocks that both sides have, or plain.
    double convolutionCost(NodeId id, const Widening& widening, bool mayBePlain) const
    {
        const auto& [own, width, beside] = widening;
        const NodeRecord& node = m_module.node(id);
        if (isOp(node, qnnConv2dOp)) return integerCost(node, own, width);
        auto conv = blockableConvolution(m_module, node);
        if (!conv) return 0;
        if (beside == Beside::Filled) {
            conv->inChannels = filledChannels(node.operands[0]).value_or(conv->inChannels);
            conv->outChannels = filledChannels({id, 0}).value_or(conv->outChannels);
        }
        if (isOf(node.operands[0], own)) conv->inChannels = width;
        if (isOf({id, 0}, own)) conv->outChannels = width;
        const int64_t in = channelBlock(conv->inChannels, m_machine.lanes);
        const int64_t out = channelBlock(conv->outChannels, m_machine.lanes);
        const bool isBlocked = out != 0 && !mayBePlain;
        double least =
            isBlocked ? convolutionCycles(*conv, in, out, m_machine) : plainCost(node, *conv, own);
        return std::min(least, blockedCycles(*conv, m_machine));
    }

    const std::vector<int64_t>& weightOf(const NodeRecord& conv) const
    {
        return constantOf(m_module, conv.operands[1])->shape();
    }

    /// Of words of channels in whole blocks; other counts of results have no fast form.
    double integerCost(const NodeRecord& node, const ChannelClass& own, int64_t width) const
    {
        constexpr double kReached = 0.85, kPlain = 8;
        const std::vector<int64_t>& weight = weightOf(node);
        const bool isDepthwise = weight[1] == 1 && node.attrs.integer("groups", 1) > 1;
        const int64_t in = isOf(node.operands[0], own) && !isDepthwise ? width : weight[1];
        const int64_t out = isOf({node.id, 0}, own) ? width : weight[0];
        auto products = static_cast<double>(inWords(in) * out * weight[2] * weight[3]);
        for (const size_t axis : {0, 2, 3})
            if (const Dim& dim = node.types[0].shape[axis]; dim.isConst())
                products *= static_cast<double>(dim.value());
        const auto filled = static_cast<double>(channelBlock(out, m_byteLanes));
        const double emptied = m_byteLanes == 0 ? 1 : filled == 0 ? kPlain : m_byteLanes / filled;
        return products * emptied / (kReached * m_machine.facts.byteMacs);
    }

    /// Windows compute; what is elementwise moves with its neighbours.
    double passingCost(NodeId id, const ChannelClass& own, int64_t width) const
    {
        const NodeRecord& node = m_module.node(id);
        if (isOp(node, qnnConv2dOp) && weightOf(node)[1] == 1) return integerCost(node, own, width);
        const int64_t block = channelBlock(width, m_machine.lanes);
        if (auto conv = blockableConvolution(m_module, node)) {
            const int64_t perGroup = conv->inChannels / conv->groups;
            conv->inChannels = conv->outChannels = width;
            conv->groups = width / perGroup;
            const double plain = convolutionCycles(*conv, 0, 0, m_machine);
            if (block == 0) return plain;
            if (conv->isDepthwise)
                return std::min(plain, convolutionCycles(*conv, block, block, m_machine));
            const GroupMerge merge = groupMergeOf(*conv, m_machine);
            return merge.block == 0 ? plain
                                    : std::min(plain, mergedCycles(*conv, merge, m_machine));
        }
        const auto grown = static_cast<double>(width) /
                           static_cast<double>(node.types[0].shape[kChannelAxis].value());
        return grown * windowCycles(m_module, node, block, m_machine.facts);
    }

    bool isOf(ValueRef value, const ChannelClass& own) const
    {
        const auto index = m_classes.classOf(value);
        return index && &m_classes.all()[*index] == &own;
    }

    Patch patchOf(const ChannelClass& own, int64_t width, const std::vector<NodeId>& nodes) const
    {
        PatchWriter patch(m_module, m_function.id, "widen-channels",
                          std::to_string(own.channels) + " channels of " +
                              nodeLabel(m_module, m_module.node(own.makers.front())) + " fill " +
                              std::to_string(width) + " in whole vectors",
                          nodes);
        const std::set<NodeId> changed(nodes.begin(), nodes.end());
        for (const NodeId id : changed) patch.change(widened(patch, m_module.node(id), own, width));
        for (const ValueRef value : own.leaving) slice(patch, value, own.channels);
        return patch.take();
    }

    NodeRecord widened(PatchWriter& patch, NodeRecord node, const ChannelClass& own,
                       int64_t width) const
    {
        const int64_t more = width - own.channels;
        const bool isGroupwise = isGroupwiseConvolution(m_module, node);
        if (isConvolution(node)) {
            const int zero = weightZeroOf(m_module, node).value_or(0); // known of makers
            Tensor weight = *constantOf(m_module, node.operands[1]);
            if (isOf({node.id, 0}, own)) weight = longer(weight, 0, more, zero);
            if (!isGroupwise && isOf(node.operands[0], own)) weight = longer(weight, 1, more, zero);
            if (isGroupwise) node.attrs.set("groups", width / weight.shape()[1]);
            node.operands[1] = patch.constant(std::move(weight), nameOf(node.operands[1]));
        } else if (contains(own.padders, node.id)) {
            std::vector<int64_t> widths = node.attrs.integers("pad_width", {});
            widths[2 * kChannelAxis + 1] += more;
            node.attrs.set("pad_width", std::move(widths));
        } else {
            const int fill = isOp(node, divideOp) ? 1 : 0;
            for (ValueRef& operand : node.operands) {
                const Tensor* constant = constantOf(m_module, operand);
                if (!constant || (isForAllChannels(*constant) && !isOp(node, biasAddOp))) continue;
                const size_t axis =
                    isOp(node, biasAddOp) ? 0 : *channelAxisOf(*constant, own.channels);
                operand = patch.constant(longer(*constant, axis, more, fill), nameOf(operand));
            }
        }
        node.types.clear();
        return node;
    }

    std::string nameOf(ValueRef value) const { return m_module.node(value.node).name; }

    /// Of those who read a widened value as it was.
    static void slice(PatchWriter& patch, ValueRef value, int64_t channels)
    {
        patch.replace(value, patch.op(stridedSliceOp, {value}, channelSliceAttrs(0, channels)));
    }

    const Module& m_module;
    const GraphFunction& m_function;
    LayoutMachine m_machine;
    ChannelClasses m_classes;
    int m_byteLanes; ///< 0: bytes have no products of their own
};

} // namespace

Result<Patches> runWidenChannels(const Module& module, const PassContext& context)
{
    return rewriteFunctions<ChannelWidener>(module, context);
}

} // namespace tenon::compiler
