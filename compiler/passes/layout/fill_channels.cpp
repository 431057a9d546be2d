// SPDX-License-Identifier: Apache-2.0
// FillChannels: values of C channels that fill no whole vectors and that no convolution makes
// alone, [N, C, H, W], get channels of zeros appended, [N, C + p, H, W], for the convolutions that
// read them, with zero weights, [O, C, KH, KW] to [O, C + p, KH, KW]: what is joined, as 64
// channels and the picture once more, or comes from outside. In whole vectors, there is Winograd's
// method.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/channel_classes.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/longer_constant.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

/// The model of costs knows no smaller differences.
constexpr double kWorthFilling = 0.85;
constexpr int64_t kNarrowestVector = 4;
constexpr size_t kChannels = 1;
constexpr double kCopies = 2; ///< of the value: into the longer one and into blocks

class ChannelFiller
{
public:
    ChannelFiller(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_machine(layoutMachine(module, function, context))
    {
    }

    Patches run() const
    {
        std::map<ValueRef, std::vector<NodeId>> readers;
        for (const NodeId id : m_function.order)
            if (const NodeRecord& node = m_module.node(id); isReader(node))
                readers[node.operands[0]].push_back(id);
        Patches patches;
        for (const auto& [value, convolutions] : readers)
            if (const int64_t width = widthOf(value, convolutions); width > channelsOf(value))
                patches.push_back(patchOf(value, convolutions, width));
        return patches;
    }

private:
    bool isReader(const NodeRecord& node) const
    {
        return node.kind == NodeKind::Op && isOp(node, conv2dOp) &&
               isWholeConvolution(m_module, node) && blockableConvolution(m_module, node);
    }

    int64_t channelsOf(ValueRef value) const
    {
        return m_module.type(value).shape[kChannels].value();
    }

    /// Cheapest for all of them, with the copies.
    int64_t widthOf(ValueRef value, const std::vector<NodeId>& convolutions) const
    {
        const int64_t channels = channelsOf(value), lanes = m_machine.lanes;
        if (channels < kNarrowestVector || channels % lanes == 0) return channels;
        int64_t best = channels;
        double least = kWorthFilling * cycles(convolutions, channels);
        for (int64_t block = lanes; block >= kNarrowestVector; block /= 2) {
            const int64_t width = (channels + block - 1) / block * block;
            if (width == channels) continue;
            const double cost = cycles(convolutions, width) +
                                kCopies * transformCycles(m_module.type(value), m_machine.facts);
            if (cost >= least) continue;
            best = width;
            least = cost;
        }
        return best;
    }

    double cycles(const std::vector<NodeId>& convolutions, int64_t width) const
    {
        double sum = 0;
        for (const NodeId id : convolutions) {
            auto conv = *blockableConvolution(m_module, m_module.node(id));
            conv.inChannels = width;
            sum +=
                std::min(convolutionCycles(conv, 0, 0, m_machine), blockedCycles(conv, m_machine));
        }
        return sum;
    }

    Patch patchOf(ValueRef value, const std::vector<NodeId>& convolutions, int64_t width) const
    {
        const int64_t channels = channelsOf(value), more = width - channels;
        PatchWriter patch(m_module, m_function.id, "fill-channels",
                          std::to_string(channels) + " channels that " +
                              nodeLabel(m_module, m_module.node(convolutions.front())) +
                              " reads fill " + std::to_string(width) + " in whole vectors",
                          convolutions);
        const ValueRef filled = patch.op(
            padOp, {value}, {{"pad_width", std::vector<int64_t>{0, 0, 0, more, 0, 0, 0, 0}}});
        for (const NodeId id : convolutions) {
            NodeRecord node = m_module.node(id);
            const std::string name = m_module.node(node.operands[1].node).name;
            const Tensor& weight = *constantOf(m_module, node.operands[1]);
            node.operands = {filled, patch.constant(longer(weight, kChannels, more, 0), name)};
            node.types.clear();
            patch.change(std::move(node));
        }
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    LayoutMachine m_machine;
};

} // namespace

Result<Patches> runFillChannels(const Module& module, const PassContext& context)
{
    const bool isForVectors = blockLanes(context.facts) >= kNarrowestVector;
    if (!isForVectors || context.code.savesMemory) return Patches{};
    return rewriteFunctions<ChannelFiller>(module, context);
}

} // namespace tenon::compiler
