// SPDX-License-Identifier: Apache-2.0
// SplitPhases: a transposed convolution with steps of s makes each of its s x s phases, every s-th
// row and column of the result, from taps of its own: s x s convolutions of the image
// [N, C, H, W] with weights [O, C/groups, ~KH/s, ~KW/s], whose results are joined. Of a single
// pixel it is a dense layer of O*KH*KW results.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/phases_as_channels.h"
#include "compiler/passes/layout/transposed_form.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/transposed_phases.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

class PhaseSplitter
{
public:
    PhaseSplitter(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_lanes(blockLanes(context.facts))
        , m_savesMemory(context.code.savesMemory)
    {
    }

    Patches run()
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (!isPlain(node)) continue;
            if (auto patch = patchFor(node)) patches.push_back(std::move(*patch));
        }
        return patches;
    }

private:
    std::optional<Patch> patchFor(const NodeRecord& node) const
    {
        const TransposedForm form = transposedForm(m_module, node, weightShape(node), m_lanes);
        if (form == TransposedForm::Pixel) return asDense(node);
        if (form == TransposedForm::Windows)
            if (auto patch = phasesAsChannels(m_module, m_function, node)) return patch;
        // Each phase is kernels to compile: of steps of 64 there would be 4,096.
        constexpr int64_t kMostPhases = 64;
        if (axis(node, 0).phases() * axis(node, 1).phases() > kMostPhases) return std::nullopt;
        return patchOf(node);
    }

    bool isPlain(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, conv2dTransposeOp)) return false;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        // Phases of depthwise layers take memory, and save few products.
        if (m_savesMemory && groupsOf(node) != 1) return false;
        return weight && weight->dtype() == kFloat32 &&
               constantShape({dataShape(node).begin() + 1, dataShape(node).end()}).has_value() &&
               !(m_savesMemory && hasEmptyPhases(node));
    }

    /// Zeros that would be constants.
    bool hasEmptyPhases(const NodeRecord& node) const
    {
        for (size_t i = 0; i < 2; ++i) {
            const TransposedAxis each = axis(node, i);
            for (int64_t index = 0; index < each.phases(); ++index) {
                const auto [first, end] = each.pixelsOf(each.phase(index));
                if (first == end) return true;
            }
        }
        return false;
    }

    const Shape& dataShape(const NodeRecord& node) const
    {
        return m_module.type(node.operands[0]).shape;
    }
    const std::vector<int64_t>& weightShape(const NodeRecord& node) const
    {
        return constantOf(m_module, node.operands[1])->shape();
    }

    static int64_t groupsOf(const NodeRecord& node) { return node.attrs.integer("groups", 1); }

    TransposedAxis axis(const NodeRecord& node, size_t i) const
    {
        return transposedAxis(m_module, node, weightShape(node), i);
    }

    ValueRef convolutionOf(PatchWriter& patch, const NodeRecord& node,
                           const std::array<TransposedAxis, 2>& axes,
                           const TransposedPhase& phase) const
    {
        const std::array<std::pair<int64_t, int64_t>, 2> pixels{axes[0].pixelsOf(phase.rows),
                                                                axes[1].pixelsOf(phase.columns)};
        if (pixels[0].first == pixels[0].second || pixels[1].first == pixels[1].second)
            return patch.filled(0, {node.types[0].shape[0], node.types[0].shape[1],
                                    phase.rows.results, phase.columns.results});
        const ValueRef weight =
            patch.constant(phase.weightOf(*constantOf(m_module, node.operands[1]), groupsOf(node)),
                           m_module.node(node.operands[1].node).name);
        std::vector<int64_t> padding = phase.padding();
        for (int64_t& side : padding) side = std::max<int64_t>(0, side);
        Attrs attrs{{"padding", padding}, {"groups", groupsOf(node)}};
        if (phase.rows.dilation != 1 || phase.columns.dilation != 1)
            attrs.set("dilation",
                      std::vector<int64_t>{phase.rows.dilation, phase.columns.dilation});
        return patch.op(conv2dOp, {partOf(patch, node.operands[0], axes, pixels), weight},
                        std::move(attrs));
    }

    /// The image without the rows and columns that a phase does not read.
    static ValueRef partOf(PatchWriter& patch, ValueRef image,
                           const std::array<TransposedAxis, 2>& axes,
                           const std::array<std::pair<int64_t, int64_t>, 2>& pixels)
    {
        const std::vector<int64_t> begin{pixels[0].first, pixels[1].first};
        const std::vector<int64_t> end{pixels[0].second, pixels[1].second};
        if (begin == std::vector<int64_t>{0, 0} &&
            end == std::vector<int64_t>{axes[0].input, axes[1].input})
            return image;
        return patch.op(stridedSliceOp, {image},
                        {{"axes", std::vector<int64_t>{2, 3}}, {"begin", begin}, {"end", end}});
    }

    Patch patchOf(const NodeRecord& node) const
    {
        const std::array axes{axis(node, 0), axis(node, 1)};
        const std::vector<int64_t> strides{axes[0].phases(), axes[1].phases()};
        PatchWriter patch(m_module, m_function.id, "split-phases",
                          "each of " + std::to_string(strides[0] * strides[1]) +
                              " phases is a convolution of its own",
                          {node.id});
        std::vector<ValueRef> phases;
        for (const TransposedPhase& phase : phasesOf(axes[0], axes[1]))
            phases.push_back(convolutionOf(patch, node, axes, phase));
        const ValueRef joined =
            phases.size() == 1 ? phases[0] : patch.op(joinPhasesOp, phases, {{"strides", strides}});
        patch.replace({node.id, 0}, joined);
        patch.erase(node.id);
        return patch.take();
    }

    /// y[n, o, kh, kw] = sum over c of x[n, c, 0, 0] * weight[c, o, kh, kw].
    Patch asDense(const NodeRecord& node) const
    {
        PatchWriter patch(m_module, m_function.id, "pixel-to-dense",
                          "of one pixel, each tap is a result of a dense layer", {node.id});
        const Tensor& weight = *constantOf(m_module, node.operands[1]);
        const std::vector<int64_t>& shape = weight.shape();
        const int64_t results = shape[1] * shape[2] * shape[3];
        const auto transposed = [&](std::span<std::byte> out) {
            for (int64_t c = 0; c < shape[0]; ++c)
                for (int64_t r = 0; r < results; ++r)
                    std::memcpy(out.data() + static_cast<size_t>(r * shape[0] + c) * sizeof(float),
                                weight.bytes().data() +
                                    static_cast<size_t>(c * results + r) * sizeof(float),
                                sizeof(float));
        };
        const ValueRef filters =
            patch.constant(Tensor::make(kFloat32, {results, shape[0]}, transposed),
                           m_module.node(node.operands[1].node).name);
        const ValueRef row = patch.op(reshapeOp, {node.operands[0]},
                                      {{"newshape", std::vector<int64_t>{-1, shape[0]}}});
        const ValueRef dense = patch.op(denseOp, {row, filters});
        patch.replace(
            {node.id, 0},
            patch.op(reshapeOp, {dense},
                     {{"newshape", std::vector<int64_t>{-1, shape[1], shape[2], shape[3]}}}));
        patch.erase(node.id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    int m_lanes;
    bool m_savesMemory;
};

} // namespace

Result<Patches> runSplitPhases(const Module& module, const PassContext& context)
{
    return rewriteFunctions<PhaseSplitter>(module, context);
}

} // namespace tenon::compiler
