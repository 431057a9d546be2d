// SPDX-License-Identifier: Apache-2.0
// DilationsAsImages: a convolution of dilation d never mixes rows or columns that are not d apart:
// every d-th row and column of the image [N, C, H, W] is an image of its own, and all of them,
// [N*d*d, C, H/d, W/d], have a convolution without dilation, which Winograd's method computes with
// fewer products.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <array>
#include <optional>

namespace tenon::compiler {
namespace {

/// What must be gained for images to be moved twice.
constexpr double kWorthwhile = 0.9;

/// One axis of the convolution, and of that of its phases.
struct Axis
{
    int64_t image, results, taps, dilation, before;

    int64_t phaseImage() const { return (image + dilation - 1) / dilation; }
    int64_t phaseResults() const { return (results + dilation - 1) / dilation; }
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
        , m_machine(layoutMachine(module, function, context))
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto axes = axesOf(node);
            if (axes && isWorthwhile(node, *axes)) patches.push_back(patchOf(node, *axes));
        }
        return patches;
    }

private:
    using Axes = std::array<Axis, 2>;

    std::optional<Axes> axesOf(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, conv2dOp)) return std::nullopt;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        const auto data = constantShape(m_module.type(node.operands[0]).shape);
        const auto result = constantShape(node.types[0].shape);
        const std::vector<int64_t> ones{1, 1};
        const std::vector<int64_t> dilation = node.attrs.integers("dilation", ones);
        if (!weight || weight->dtype() != kFloat32 || !data || !result || data->size() != 4 ||
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
        return axes;
    }

    bool isWorthwhile(const NodeRecord& node, const Axes& axes) const
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
        const double moving = transformCycles(data, m_machine.facts) +
                              transformCycles(node.types[0], m_machine.facts);
        return winogradForm(phases, m_machine).cycles + moving <
               kWorthwhile * winogradForm(whole, m_machine, WinogradTile{}).cycles;
    }

    Patch patchOf(const NodeRecord& node, const Axes& axes) const
    {
        const std::vector<int64_t> strides{axes[0].dilation, axes[1].dilation};
        PatchWriter patch(m_module, m_function.id, "stack-phases",
                          "of dilation " + std::to_string(strides[0]) + " x " +
                              std::to_string(strides[1]) + ": as many images without",
                          {node.id});
        const ValueRef images = patch.op(stackPhasesOp, {node.operands[0]}, {{"strides", strides}});
        Attrs attrs;
        attrs.set("padding", std::vector<int64_t>{axes[0].phaseBefore(), axes[1].phaseBefore(),
                                                  axes[0].phaseAfter(), axes[1].phaseAfter()});
        const ValueRef convolved = patch.op(conv2dOp, {images, node.operands[1]}, std::move(attrs));
        patch.replace({node.id, 0},
                      patch.op(unstackPhasesOp, {convolved},
                               {{"strides", strides},
                                {"size", std::vector<int64_t>{axes[0].results, axes[1].results}}}));
        patch.erase(node.id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    LayoutMachine m_machine;
};

} // namespace

Result<Patches> runDilationsAsImages(const Module& module, const PassContext& context)
{
    return rewriteFunctions<DilationStacker>(module, context);
}

} // namespace tenon::compiler
