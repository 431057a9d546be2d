// SPDX-License-Identifier: Apache-2.0
// OpenImagesAsPatches: an image whose rows and columns are known at run time only is a number of
// patches whose rows and columns are known. Convolutions read patches with the elements around them
// that their windows reach; what is elementwise takes the patches that a convolution left. So the
// kernels are those of known images, and the number of patches is open, as that of images may be.
#include "compiler/ops/ops.h"
#include "compiler/ops/patches.h"
#include "compiler/passes/layout/channel_shuffle.h"
#include "compiler/passes/layout/open_images.h"
#include "compiler/passes/layout/padding_value.h"
#include "compiler/passes/layout/patch_sides.h"
#include "compiler/passes/layout/patch_windows.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"
#include "compiler/passes/transposed_phases.h"

#include <algorithm>
#include <array>
#include <map>

namespace tenon::compiler {
namespace {

class ImageCutter
{
public:
    ImageCutter(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_sides(module, context.facts)
    {
    }

    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind != NodeKind::Op || node.types.empty() ||
                !std::all_of(node.types.begin(), node.types.end(), isOpenImage))
                continue;
            PatchWriter patch(m_module, m_function.id, "image-to-patches",
                              nodeLabel(m_module, node) + " works on patches of known size", {id});
            m_patch = &patch;
            const std::vector<Pieces> pieces = allPiecesOf(node);
            if (pieces.empty()) continue;
            for (uint32_t i = 0; i < pieces.size(); ++i) leave({node.id, i}, pieces[i]);
            if (pieces.size() == 1) patch.replaceAndErase(id, m_image);
            m_patches.push_back(patch.take());
        }
        return std::move(m_patches);
    }

private:
    using Sides = std::array<int64_t, 2>;

    struct Pieces
    {
        ValueRef value;
        Sides sides; ///< rows and columns of each
    };

    const TensorType& typeOf(ValueRef value) const { return m_module.type(value); }

    /// Patches of `value` for those of `result`, whose sides are `sides`.
    ValueRef cut(ValueRef value, const TensorType& result, const Sides& sides, Attrs attrs)
    {
        std::vector<std::string> sizes{patchCount(result.shape[2], sides[0]).text(),
                                       patchCount(result.shape[3], sides[1]).text()};
        const auto found = m_pieces.find(value);
        const bool isCut = found != m_pieces.end();
        if (isCut) // of its patches: the image would be written in between
            for (const size_t i : {0, 2, 3}) sizes.push_back(typeOf(value).shape[i].text());
        attrs.set("sizes", std::move(sizes));
        attrs.set("images",
                  std::vector<std::string>{result.shape[2].text(), result.shape[3].text()});
        attrs.set("sides", std::vector<int64_t>{sides[0], sides[1]});
        return m_patch->op(cutPatchesOp, {isCut ? found->second.value : value}, std::move(attrs));
    }

    /// The value's own elements as patches of those sides.
    ValueRef pieces(ValueRef value, const Sides& sides)
    {
        const auto found = m_pieces.find(value);
        if (found != m_pieces.end() && found->second.sides == sides) return found->second.value;
        const std::vector<int64_t> size{sides[0], sides[1]};
        const ValueRef made = cut(value, typeOf(value), sides, {{"patch", size}, {"step", size}});
        m_pieces.try_emplace(value, Pieces{made, sides});
        return made;
    }

    /// Each result as patches, and as the image that they make again.
    void leave(ValueRef result, const Pieces& pieces)
    {
        const Shape& shape = typeOf(result).shape;
        m_image = m_patch->op(joinPatchesOp, {pieces.value},
                              {{"sizes", std::vector<std::string>{shape[0].text(), shape[2].text(),
                                                                  shape[3].text()}}});
        m_pieces.insert_or_assign(result, pieces);
        if (m_module.node(result.node).types.size() > 1) m_patch->replace(result, m_image);
    }

    std::vector<Pieces> allPiecesOf(const NodeRecord& node)
    {
        if (isOp(node, splitOp)) return channelParts(node);
        if (node.types.size() != 1) return {};
        const std::optional<Pieces> pieces = piecesOf(node);
        return pieces ? std::vector<Pieces>{*pieces} : std::vector<Pieces>{};
    }

    /// Patches of some channels each.
    std::vector<Pieces> channelParts(const NodeRecord& node)
    {
        const auto found = m_pieces.find(node.operands[0]);
        if (found == m_pieces.end() ||
            normalizedAxis(node.attrs.integer("axis", 0), kImageRank) != 1)
            return {};
        std::vector<Pieces> parts;
        int64_t begin = 0;
        for (const TensorType& type : node.types) {
            const int64_t end = begin + type.shape[1].value();
            const ValueRef part =
                m_patch->op(stridedSliceOp, {found->second.value}, channelSliceAttrs(begin, end));
            parts.push_back({part, found->second.sides});
            begin = end;
        }
        return parts;
    }

    /// Pixels of patches that become several each, in patches so much larger.
    std::optional<Pieces> repeated(const NodeRecord& node)
    {
        const auto found = m_pieces.find(node.operands[0]);
        const std::vector<double> scales = node.attrs.numbers("scales", {});
        if (found == m_pieces.end() || scales.size() != 2 ||
            node.attrs.integers("size", {}) != std::vector<int64_t>{0, 0})
            return std::nullopt;
        Sides sides = found->second.sides;
        for (size_t i = 0; i < sides.size(); ++i) sides[i] *= static_cast<int64_t>(scales[i]);
        Attrs attrs = node.attrs;
        attrs.set("size", std::vector<int64_t>{sides[0], sides[1]});
        return Pieces{onPatches(node, found->second.value, std::move(attrs)), sides};
    }

    /// Channels that change places, which are the same in every patch.
    std::optional<Pieces> shuffled(const NodeRecord& node)
    {
        const auto shuffle = channelShuffleOf(m_module, node);
        const auto found = shuffle ? m_pieces.find(shuffle->images) : m_pieces.end();
        if (found == m_pieces.end()) return std::nullopt;
        const auto [value, sides] = found->second;
        const auto shaped = [&](ValueRef data, std::vector<int64_t> channels) {
            channels.insert(channels.begin(), 0); // as many patches as there are
            channels.insert(channels.end(), sides.begin(), sides.end());
            return m_patch->op(reshapeOp, {data}, {{"newshape", channels}});
        };
        const ValueRef table = shaped(value, {shuffle->rows, shuffle->columns});
        const ValueRef turned =
            m_patch->op(transposeOp, {table}, {{"axes", std::vector<int64_t>{0, 2, 1, 3, 4}}});
        return Pieces{shaped(turned, {shuffle->rows * shuffle->columns}), sides};
    }

    std::optional<Pieces> piecesOf(const NodeRecord& node)
    {
        if (isOp(node, reshapeOp)) return shuffled(node);
        if (isOneOf(node, conv2dOp, qnnConv2dOp)) return convolution(node);
        if (isOp(node, conv2dTransposeOp)) return transposedConvolution(node);
        if (isOneOf(node, maxPool2dOp, avgPool2dOp)) return pooling(node);
        if (isOp(node, resize2dOp)) return repeated(node);
        const auto first =
            std::find_if(node.operands.begin(), node.operands.end(),
                         [&](ValueRef operand) { return m_pieces.count(operand) > 0; });
        if (first == node.operands.end()) return std::nullopt;
        const Sides sides = m_pieces.at(*first).sides;
        if (isOp(node, concatenateOp)) return concatenation(node, sides);
        return elementwise(node, sides);
    }

    /// The patches that windows of `kernel` elements read for those of the node's result.
    std::optional<ValueRef> piecesFor(const NodeRecord& node, const std::vector<int64_t>& kernel,
                                      const Sides& sides)
    {
        const std::optional<double> beyond = paddingValue(m_module, node);
        if (!beyond) return std::nullopt;
        Attrs attrs = patchWindow(node, kernel, sides).attrs();
        if (*beyond != 0) attrs.set("pad_value", *beyond);
        return cut(node.operands[0], node.types[0], sides, std::move(attrs));
    }

    /// The node for patches in place of its first operand.
    ValueRef onPatches(const NodeRecord& node, ValueRef patches, Attrs attrs)
    {
        std::vector<ValueRef> operands = node.operands;
        operands[0] = patches;
        return m_patch->op(factsOf(node), operands, std::move(attrs));
    }

    static Attrs withoutPadding(const NodeRecord& node)
    {
        Attrs attrs = node.attrs;
        attrs.set("padding", std::vector<int64_t>{0, 0, 0, 0});
        return attrs;
    }

    /// Of images in plain layout, by filters of known shape.
    std::optional<std::vector<int64_t>> filtersOf(const NodeRecord& node) const
    {
        if (!isOpenImage(typeOf(node.operands[0])) ||
            node.attrs.string("data_layout", "NCHW") != "NCHW")
            return std::nullopt;
        return constantShape(typeOf(node.operands[1]).shape);
    }

    std::optional<Pieces> convolution(const NodeRecord& node)
    {
        const auto weight = filtersOf(node);
        if (!weight) return std::nullopt;
        Sides sides = m_sides.of(node.types[0]);
        const ValueRef data = node.operands[0];
        if (!isPointwise(node, *weight)) {
            const auto windows = piecesFor(node, {(*weight)[2], (*weight)[3]}, sides);
            if (!windows) return std::nullopt;
            return Pieces{onPatches(node, *windows, withoutPadding(node)), sides};
        }
        if (const auto found = m_pieces.find(data); found != m_pieces.end())
            sides = found->second.sides;
        return Pieces{onPatches(node, pieces(data, sides), node.attrs), sides};
    }

    std::optional<Pieces> transposedConvolution(const NodeRecord& node)
    {
        const auto weight = filtersOf(node);
        if (!weight) return std::nullopt;
        const auto axis = [&](size_t i) {
            return TransposedAxis{.kernel = (*weight)[2 + i],
                                  .stride = node.attrs.integers("strides", {1, 1})[i],
                                  .padding = node.attrs.integers("padding", {0, 0, 0, 0})[i]};
        };
        std::array axes{axis(0), axis(1)};
        const Sides least = m_sides.of(node.types[0]);
        Sides steps{};
        for (size_t i = 0; i < steps.size(); ++i)
            steps[i] = (least[i] + axes[i].stride - 1) / axes[i].stride;
        const Sides sides{steps[0] * axes[0].stride, steps[1] * axes[1].stride};
        for (size_t i = 0; i < sides.size(); ++i) axes[i].output = sides[i];
        const std::optional<ValueRef> phases = phasesOf(node, axes, steps, sides);
        return Pieces{phases ? *phases : transposedPatches(node, axes, steps, sides), sides};
    }

    /// Each phase as a convolution of patches of its own; none where they are many or too narrow,
    /// or where some has no taps.
    std::optional<ValueRef> phasesOf(const NodeRecord& node,
                                     const std::array<TransposedAxis, 2>& axes, const Sides& steps,
                                     const Sides& sides)
    {
        constexpr int64_t kMostPhases = 16, kFewestResults = 4;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        const std::vector<int64_t> ones{1, 1}, strides{axes[0].stride, axes[1].stride};
        if (!weight || weight->dtype() != kFloat32 ||
            node.types[0].shape[1].value() < kFewestResults ||
            node.attrs.integers("dilation", ones) != ones ||
            strides[0] * strides[1] > kMostPhases || axes[0].kernel < strides[0] ||
            axes[1].kernel < strides[1])
            return std::nullopt;
        const int64_t groups = node.attrs.integer("groups", 1);
        std::map<std::vector<int64_t>, ValueRef> windows;
        std::vector<ValueRef> phases;
        for (const TransposedPhase& phase : compiler::phasesOf(axes[0], axes[1])) {
            const std::vector<int64_t> before{phase.rows.before, phase.columns.before};
            const std::vector<int64_t> patch{steps[0] + phase.rows.taps - 1,
                                             steps[1] + phase.columns.taps - 1};
            ValueRef& data = windows[{before[0], before[1], patch[0], patch[1]}];
            if (!data.node.isValid())
                data = cut(node.operands[0], node.types[0], sides,
                           {{"patch", patch},
                            {"step", std::vector<int64_t>{steps[0], steps[1]}},
                            {"before", before}});
            const ValueRef filters = m_patch->constant(phase.weightOf(*weight, groups),
                                                       m_module.node(node.operands[1].node).name);
            phases.push_back(m_patch->op(conv2dOp, {data, filters}, {{"groups", groups}}));
        }
        if (phases.size() == 1) return phases[0];
        return m_patch->op(joinPhasesOp, phases, {{"strides", strides}});
    }

    ValueRef transposedPatches(const NodeRecord& node, const std::array<TransposedAxis, 2>& axes,
                               const Sides& steps, const Sides& sides)
    {
        const TransposedWindow window = transposedWindow(node, axes, steps);
        Attrs attrs = node.attrs;
        attrs.set("padding", window.padding);
        attrs.set("output_padding", window.extra);
        const ValueRef data = cut(node.operands[0], node.types[0], sides, window.window.attrs());
        return onPatches(node, data, std::move(attrs));
    }

    std::optional<Pieces> pooling(const NodeRecord& node)
    {
        if (!isOpenImage(typeOf(node.operands[0])) || node.attrs.string("layout", "NCHW") != "NCHW")
            return std::nullopt;
        const Sides sides = m_sides.of(node.types[0]);
        Attrs attrs = withoutPadding(node);
        attrs.set("ceil_mode", int64_t{0}); // patches hold the windows that ceil_mode adds
        const std::vector<int64_t> kernel = node.attrs.integers("pool_size", {});
        if (const auto windows = piecesFor(node, kernel, sides))
            return Pieces{onPatches(node, *windows, std::move(attrs)), sides};
        if (node.types[0].dtype != kFloat32 || node.attrs.integer("count_include_pad", 0) != 0)
            return std::nullopt;
        return Pieces{meanOfImage(node, patchWindow(node, kernel, sides).attrs(), attrs, sides),
                      sides};
    }

    /// The mean with zeros beyond the edges, by the share of each window that is not beyond them:
    /// the mean of an image of ones.
    ValueRef meanOfImage(const NodeRecord& node, const Attrs& windows, const Attrs& pool,
                         const Sides& sides)
    {
        Shape shape = typeOf(node.operands[0]).shape;
        shape[1] = 1;
        const ValueRef ones = m_patch->filled(1, shape);
        const ValueRef sums =
            onPatches(node, cut(node.operands[0], node.types[0], sides, windows), pool);
        const ValueRef share = onPatches(node, cut(ones, node.types[0], sides, windows), pool);
        return m_patch->op(divideOp, {sums, share});
    }

    std::optional<Pieces> concatenation(const NodeRecord& node, const Sides& sides)
    {
        if (normalizedAxis(node.attrs.integer("axis", 0), kImageRank) != 1) return std::nullopt;
        const Shape& result = node.types[0].shape;
        for (const ValueRef operand : node.operands) {
            const TensorType& type = typeOf(operand);
            if (!isOpenImage(type) || !(type.shape[2] == result[2]) ||
                !(type.shape[3] == result[3]))
                return std::nullopt;
        }
        std::vector<ValueRef> parts;
        for (const ValueRef operand : node.operands) parts.push_back(pieces(operand, sides));
        return Pieces{m_patch->op(concatenateOp, parts, {{"axis", int64_t{1}}}), sides};
    }

    std::optional<Pieces> elementwise(const NodeRecord& node, const Sides& sides)
    {
        const OpDef& op = factsOf(node);
        const bool isBias =
            isOp(node, biasAddOp) && normalizedAxis(node.attrs.integer("axis", 1), kImageRank) == 1;
        if (!isElementwise(op) && !isBias && !convertsByOneScale(m_module, node))
            return std::nullopt;
        const auto isLike = [&](ValueRef operand) {
            return operand.node.isValid() && typeOf(operand).shape == node.types[0].shape &&
                   isOpenImage(typeOf(operand));
        };
        const auto isFine = [&](ValueRef operand) {
            return isLike(operand) || isBias || isByChannel(m_module, operand);
        };
        if (!std::all_of(node.operands.begin(), node.operands.end(), isFine)) return std::nullopt;
        std::vector<ValueRef> operands;
        for (const ValueRef operand : node.operands)
            operands.push_back(isLike(operand) ? pieces(operand, sides) : operand);
        return Pieces{m_patch->op(op, operands, node.attrs), sides};
    }

    const Module& m_module;
    const GraphFunction& m_function;
    PatchSides m_sides;
    std::map<ValueRef, Pieces> m_pieces; ///< of a value: its patches
    ValueRef m_image;                    ///< the last of them
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Result<Patches> runOpenImagesAsPatches(const Module& module, const PassContext& context)
{
    return rewriteFunctions<ImageCutter>(module, context);
}

} // namespace tenon::compiler
