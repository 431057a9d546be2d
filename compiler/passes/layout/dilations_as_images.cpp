// SPDX-License-Identifier: Apache-2.0
// DilationsAsImages: a convolution of dilation d never mixes rows or columns that are not d apart:
// every d-th row and column of the image [N, C, H, W] is an image of its own, and all of them,
// [N*d*d, C, H/d, W/d], have a convolution without dilation, which Winograd's method computes with
// fewer products. Of integers the sums become bytes before they are an image again.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/quantized_winograd.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tenon::compiler {
namespace {

/// What must be gained for images of floats to be moved twice. Of integers, points take less of
/// what is counted for them than bytes do (Zen 3, 1 x 7 taps of 32 channels to 32: 57 to 61 us
/// in place of 103, of 300,716 and 345,975 cycles).
constexpr double kWorthwhile = 0.9;

constexpr size_t kDataZero = 2; ///< of qnn.conv2d

/// One axis of the convolution, and of that of its phases.
struct Axis
{
    int64_t image, results, taps, dilation, before;

    int64_t phaseImage() const { return (image + dilation - 1) / dilation; }
    int64_t phaseResults() const { return (results + dilation - 1) / dilation; }
    /// Of the last rows of phases.
    int64_t missing() const { return phaseImage() * dilation - image; }
    int64_t phaseBefore() const { return before / dilation; }
    int64_t phaseAfter() const { return phaseResults() - 1 + taps - phaseBefore() - phaseImage(); }
    /// Each phase of the result reads one phase of the image, all of it.
    bool hasPhases() const
    {
        return before % dilation == 0 && dilation <= image && phaseAfter() >= 0;
    }
};

class DilationStacker
{
public:
    DilationStacker(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
        , m_machine(layoutMachine(module, function, context))
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto axes = axesOf(node);
            if (!axes) continue;
            const std::vector<NodeId> chain = chainBehind(node);
            if (isWorthwhile(node, *axes, m_module.node(chain.back()).types[0]))
                patches.push_back(patchOf(node, *axes, chain));
        }
        return patches;
    }

private:
    using Axes = std::array<Axis, 2>;

    std::optional<Axes> axesOf(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOneOf(node, conv2dOp, qnnConv2dOp)) return std::nullopt;
        const DataType number = isOp(node, conv2dOp) ? kFloat32 : kInt8;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        const auto data = constantShape(m_module.type(node.operands[0]).shape);
        const auto result = constantShape(node.types[0].shape);
        const std::vector<int64_t> ones{1, 1};
        const std::vector<int64_t> dilation = node.attrs.integers("dilation", ones);
        if (!weight || weight->dtype() != number || !data || !result || data->size() != 4 ||
            dilation == ones || node.attrs.integer("groups", 1) != 1 ||
            node.attrs.integers("strides", ones) != ones ||
            node.attrs.string("data_layout", "NCHW") != "NCHW")
            return std::nullopt;
        const std::vector<int64_t> padding = node.attrs.integers("padding", {0, 0, 0, 0});
        Axes axes;
        for (size_t i = 0; i < axes.size(); ++i) {
            axes[i] = {(*data)[2 + i], (*result)[2 + i], weight->shape()[2 + i], dilation[i],
                       padding[i]};
            if (!axes[i].hasPhases()) return std::nullopt;
        }
        if (isFilled(node, axes) && !zeroPoint(node)) return std::nullopt;
        return axes;
    }

    /// Beyond the edges of phases are zeros, which integers pad with their zero point before.
    static bool isFilled(const NodeRecord& node, const Axes& axes)
    {
        return isOp(node, qnnConv2dOp) &&
               std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.missing() > 0; });
    }

    /// Of data, where it is known.
    std::optional<double> zeroPoint(const NodeRecord& node) const
    {
        const bool hasZero =
            node.operands.size() > kDataZero && node.operands[kDataZero].node.isValid();
        return hasZero ? scalarOf(m_module, node.operands[kDataZero]) : 0;
    }

    /// Numbers that are the same for all rows, columns and images.
    bool isByChannel(ValueRef value) const
    {
        if (!value.node.isValid()) return true;
        const Tensor* numbers = constantOf(m_module, value);
        if (!numbers) return false;
        const std::vector<int64_t>& shape = numbers->shape();
        const size_t rank = shape.size();
        return numbers->size() == 1 || (rank >= 3 && shape[rank - 3] == numbers->size());
    }

    /// The layer, and behind the sums of integers what makes bytes of them.
    std::vector<NodeId> chainBehind(const NodeRecord& node) const
    {
        std::vector<NodeId> chain{node.id};
        if (isOp(node, conv2dOp)) return chain;
        while (m_uses.hasOneUser(chain.back())) {
            const NodeRecord& next = m_module.node(m_uses.users(chain.back())[0]);
            const bool isNext = next.kind == NodeKind::Op &&
                                isOneOf(next, addOp, qnnRequantizeOp) &&
                                next.operands[0] == ValueRef{chain.back(), 0} &&
                                std::all_of(next.operands.begin() + 1, next.operands.end(),
                                            [&](ValueRef operand) { return isByChannel(operand); });
            if (!isNext) break;
            chain.push_back(next.id);
        }
        return chain;
    }

    bool isWorthwhile(const NodeRecord& node, const Axes& axes, const TensorType& made) const
    {
        const TensorType& data = m_module.type(node.operands[0]);
        const int64_t channels = data.shape[1].value();
        const int64_t results = node.types[0].shape[1].value();
        const int64_t batch = data.shape[0].value();
        const ConvolutionSize whole{.batch = batch,
                                    .inChannels = channels,
                                    .outChannels = results,
                                    .rows = axes[0].results,
                                    .columns = axes[1].results,
                                    .kernel = {axes[0].taps, axes[1].taps}};
        ConvolutionSize phases = whole;
        phases.batch *= axes[0].dilation * axes[1].dilation;
        phases.rows = axes[0].phaseResults();
        phases.columns = axes[1].phaseResults();
        const double read = transformCycles(data, m_machine.facts);
        const double moving =
            (isFilled(node, axes) ? 2 : 1) * read + transformCycles(made, m_machine.facts);
        if (isOp(node, qnnConv2dOp)) {
            const double points =
                integerForm(inBlocks(phases), m_machine.facts).cycles(m_machine.facts);
            const double bytes =
                directIntegers(inBlocks(whole), m_machine.facts).cycles(m_machine.facts);
            return m_machine.maxError > 0 && points + moving < bytes;
        }
        return winogradForm(phases, m_machine).cycles + moving <
               kWorthwhile * winogradForm(whole, m_machine, WinogradTile{}).cycles;
    }

    /// With the channels that fill blocks of bytes.
    ConvolutionSize inBlocks(ConvolutionSize size) const
    {
        const auto filled = [&](int64_t channels) {
            const int64_t lanes = m_machine.byteLanes;
            return channelBlock(channels, m_machine.byteLanes) > 0
                       ? channels
                       : (channels + lanes - 1) / lanes * lanes;
        };
        size.inChannels = filled(size.inChannels);
        size.outChannels = filled(size.outChannels);
        return size;
    }

    Patch patchOf(const NodeRecord& node, const Axes& axes, const std::vector<NodeId>& chain) const
    {
        const std::vector<int64_t> strides{axes[0].dilation, axes[1].dilation};
        PatchWriter patch(m_module, m_function.id, "stack-phases",
                          "of dilation " + std::to_string(strides[0]) + " x " +
                              std::to_string(strides[1]) + ": as many images without",
                          chain);
        ValueRef value = node.operands[0];
        if (isFilled(node, axes))
            value = patch.op(padOp, {value},
                             {{"pad_width", std::vector<int64_t>{0, 0, 0, 0, 0, axes[0].missing(),
                                                                 0, axes[1].missing()}},
                              {"pad_value", *zeroPoint(node)}});
        value = patch.op(stackPhasesOp, {value}, {{"strides", strides}});
        for (const NodeId id : chain) {
            const NodeRecord& each = m_module.node(id);
            std::vector<ValueRef> operands = each.operands;
            operands[0] = value;
            Attrs attrs = each.attrs;
            if (id == node.id) {
                attrs.erase("dilation");
                attrs.set("padding",
                          std::vector<int64_t>{axes[0].phaseBefore(), axes[1].phaseBefore(),
                                               axes[0].phaseAfter(), axes[1].phaseAfter()});
            }
            value = patch.op(*findOp(each.op), std::move(operands), std::move(attrs));
        }
        patch.replace({chain.back(), 0},
                      patch.op(unstackPhasesOp, {value},
                               {{"strides", strides},
                                {"size", std::vector<int64_t>{axes[0].results, axes[1].results}}}));
        for (const NodeId id : chain) patch.erase(id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    const UseIndex m_uses;
    LayoutMachine m_machine;
};

} // namespace

Result<Patches> runDilationsAsImages(const Module& module, const PassContext& context)
{
    return rewriteFunctions<DilationStacker>(module, context);
}

} // namespace tenon::compiler
