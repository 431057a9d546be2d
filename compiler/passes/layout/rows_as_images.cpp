// SPDX-License-Identifier: Apache-2.0
// RowsAsImages: a convolution along one axis is one of images of one row, [N, C, 1, L], between
// reshapes from [N, C, L] and back. What stands between two such convolutions, or behind the last
// one, works on the images, too: scales then stand beside the convolution that they can be folded
// into, its kernel computes what is elementwise behind it, and channels stay in blocks.
// Images of one column, [N, C, L, 1], as some frameworks write what has one axis, are images of one
// row, too: a kernel computes several results of a row at once, of which a column has one. So are
// the columns that a convolution leaves whose kernel is as wide as the image.
#include "compiler/ops/ops.h"
#include "compiler/ops/shape_attrs.h"
#include "compiler/passes/layout/turned_windows.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

using Extents = std::vector<int64_t>;

constexpr size_t kRowsRank = 3, kColumnsRank = 4;
constexpr int64_t kLineAxis = 2, kImageRow = 2, kImageColumn = 3;

/// Rows, [N, C, L], or columns, [N, C, L, 1]; any of these may be open.
bool isLine(const Shape& shape)
{
    return shape.size() == kRowsRank ||
           (shape.size() == kColumnsRank && shape[kImageColumn] == Dim(1) &&
            shape[kImageRow] != Dim(1));
}

/// A shape that stands beside a line of `rank`, beside its image, [N, C, 1, L].
Shape imageShape(Shape shape, size_t rank)
{
    if (shape.size() < 2) return shape;
    if (rank == kRowsRank)
        shape.insert(shape.end() - 1, Dim(1));
    else
        std::swap(shape[shape.size() - 2], shape.back());
    return shape;
}

class RowRewriter
{
public:
    RowRewriter(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind != NodeKind::Op || node.types.size() != 1) continue;
            if (isImageAsLine(node)) {
                m_images[{id, 0}] = node.operands[0];
                continue;
            }
            const auto known =
                std::find_if(node.operands.begin(), node.operands.end(),
                             [&](ValueRef operand) { return m_images.count(operand) > 0; });
            if (known != node.operands.end())
                rewrite(id, node, lineRank(*known));
            else if (isOfColumn(node) || spansRows(m_module, node))
                rewrite(id, node, kColumnsRank);
        }
        return std::move(m_patches);
    }

private:
    std::optional<Shape> shapeOf(ValueRef value) const
    {
        if (!value.node.isValid()) return std::nullopt;
        const DataType number = m_module.type(value).dtype;
        const bool isOfImages =
            number == kFloat32 || number == kInt8 || number == kUInt8 || number == kInt32;
        return isOfImages ? std::optional(m_module.type(value).shape) : std::nullopt;
    }
    /// The rank of a line, 0 of what is none.
    size_t lineRank(ValueRef value) const
    {
        const auto shape = shapeOf(value);
        return shape && isLine(*shape) ? shape->size() : 0;
    }

    /// [N, C, 1, L] -> [N, C, L] or [N, C, L, 1].
    bool isImageAsLine(const NodeRecord& node) const
    {
        const size_t rank = lineRank({node.id, 0});
        if (!isOp(node, reshapeOp) || rank == 0) return false;
        const auto image = shapeOf(node.operands[0]);
        return image && *image == imageShape(*shapeOf({node.id, 0}), rank);
    }
    bool isOfColumn(const NodeRecord& node) const
    {
        return isPlainConvolution(node) && lineRank(node.operands[0]) == kColumnsRank;
    }

    /// Of a node that reads lines of `rank`.
    void rewrite(NodeId id, const NodeRecord& node, size_t rank)
    {
        PatchWriter patch(m_module, m_function.id, "rows-to-images",
                          nodeLabel(m_module, node) + " works on images of one row", {id});
        m_patch = &patch;
        m_rank = rank;
        m_made.clear();
        const auto done = isOp(node, reshapeOp) ? imageAgain(node) : replacement(node);
        if (!done) {
            for (const ValueRef value : m_made) m_images.erase(value); // its patch is no more
            return;
        }
        patch.replaceAndErase(id, *done);
        m_patches.push_back(patch.take());
    }

    /// A line -> [N, C, 1, L], in front of the next convolution; rows of columns or columns of rows
    /// are other lines of the same image.
    std::optional<ValueRef> imageAgain(const NodeRecord& node)
    {
        const ValueRef image = m_images.at(node.operands[0]);
        const auto line = shapeOf(node.operands[0]), wanted = shapeOf({node.id, 0});
        if (!wanted) return std::nullopt;
        const Shape known = imageShape(*line, m_rank);
        if (*wanted == known) return image;
        if (isLine(*wanted) && imageShape(*wanted, wanted->size()) == known)
            m_images[{node.id, 0}] = image;
        return std::nullopt;
    }

    /// The line again, of what the node computes on images.
    std::optional<ValueRef> replacement(const NodeRecord& node)
    {
        const auto result = shapeOf({node.id, 0});
        if (!result) return std::nullopt;
        const auto image = imageOf(node);
        if (!image) return std::nullopt;
        if (isLine(*result))
            m_images[{node.id, 0}] = *image;
        else if (result->size() == kColumnsRank)
            return image; // of one pixel either way
        return reshape(*image, *result);
    }

    std::optional<ValueRef> imageOf(const NodeRecord& node)
    {
        const OpDef& op = factsOf(node);
        if (op.blockedForm == BlockedForm::ByReduction) return reduction(op, node);
        if (isPlainConvolution(node) || isPlainPool(node)) return window(node);
        if (lineRank({node.id, 0}) != m_rank) return std::nullopt;
        if (isOp(node, concatenateOp)) return concatenation(node);
        if (isOp(node, stridedSliceOp)) return slice(node);
        if (isOp(node, padOp)) return padded(node);
        if (isOneOf(node, qnnQuantizeOp, qnnDequantizeOp)) return scaled(node);
        return elementwise(op, node);
    }

    /// Of columns, whose only result may be one element.
    std::optional<ValueRef> window(const NodeRecord& node)
    {
        const auto result = shapeOf({node.id, 0});
        if (m_rank != kColumnsRank || !result || result->back() != Dim(1)) return std::nullopt;
        if (lineRank(node.operands[0]) == 0) return columnsAsChannels(m_module, *m_patch, node);
        return turnedWindow(m_module, *m_patch, node, image(node.operands[0]));
    }

    /// Over the line.
    std::optional<ValueRef> reduction(const OpDef& op, const NodeRecord& node)
    {
        const Extents axes = node.attrs.integers("axis", {});
        const auto isOfLine = [&](int64_t axis) {
            return normalizedAxis(axis, m_rank) >= kLineAxis;
        };
        const auto isLineAxis = [&](int64_t axis) {
            return normalizedAxis(axis, m_rank) == kLineAxis;
        };
        if (!std::all_of(axes.begin(), axes.end(), isOfLine) ||
            !std::any_of(axes.begin(), axes.end(), isLineAxis) ||
            node.attrs.integer("exclude", 0) != 0)
            return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("axis", Extents{kImageRow, kImageColumn});
        attrs.set("keepdims", int64_t{1}); // as images, whose channels may be widened
        return m_patch->op(op, {image(node.operands[0])}, std::move(attrs));
    }

    /// Side by side as channels or along the line.
    std::optional<ValueRef> concatenation(const NodeRecord& node)
    {
        if (!std::all_of(node.operands.begin(), node.operands.end(),
                         [&](ValueRef operand) { return lineRank(operand) == m_rank; }))
            return std::nullopt;
        const int64_t axis = normalizedAxis(node.attrs.integer("axis", 0), m_rank);
        std::vector<ValueRef> parts;
        for (const ValueRef operand : node.operands) parts.push_back(image(operand));
        return m_patch->op(concatenateOp, parts,
                           {{"axis", axis == kLineAxis ? kImageColumn : axis}});
    }

    /// Of the line or of channels.
    std::optional<ValueRef> slice(const NodeRecord& node)
    {
        if (channelSliceOf(m_module, node)) return m_patch->opOn(node, image(node.operands[0]));
        const Extents axes = node.attrs.integers("axes", {});
        if (axes.size() != 1 || normalizedAxis(axes[0], m_rank) != kLineAxis) return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("axes", Extents{kImageColumn});
        return m_patch->op(stridedSliceOp, {image(node.operands[0])}, std::move(attrs));
    }

    /// With elements before and behind, as causal convolutions read them.
    std::optional<ValueRef> padded(const NodeRecord& node)
    {
        const Extents width = node.attrs.integers("pad_width", {});
        constexpr size_t kBefore = 2 * kLineAxis, kBehind = kBefore + 1;
        if (width.size() != 2 * m_rank || node.operands.size() != 1) return std::nullopt;
        for (size_t i = 0; i < width.size(); ++i)
            if (i != kBefore && i != kBehind && width[i] != 0) return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("pad_width", Extents{0, 0, 0, 0, 0, 0, width[kBefore], width[kBehind]});
        return m_patch->op(padOp, {image(node.operands[0])}, std::move(attrs));
    }

    /// Integers for real values or the other way round, of one scale.
    std::optional<ValueRef> scaled(const NodeRecord& node)
    {
        if (!convertsByOneScale(m_module, node)) return std::nullopt;
        return m_patch->opOn(node, image(node.operands[0]));
    }

    std::optional<ValueRef> elementwise(const OpDef& op, const NodeRecord& node)
    {
        const bool isPlain = std::all_of(node.operands.begin(), node.operands.end(),
                                         [&](ValueRef operand) { return canStandBeside(operand); });
        if (!isElementwise(op) || !isPlain) return std::nullopt;
        std::vector<ValueRef> operands;
        for (const ValueRef operand : node.operands) operands.push_back(image(operand));
        return m_patch->op(op, operands, node.attrs);
    }

    bool canStandBeside(ValueRef operand) const
    {
        const auto shape = shapeOf(operand);
        return shape && shape->size() <= m_rank;
    }

    ValueRef reshape(ValueRef value, const Shape& shape)
    {
        return m_patch->op(reshapeOp, {value}, shapeAttrs(shape));
    }

    /// The value beside images: one of fewer dimensions, too.
    ValueRef image(ValueRef value)
    {
        const bool isWhole = lineRank(value) == m_rank;
        const auto found = m_images.find(value);
        if (isWhole && found != m_images.end()) return found->second;
        const Shape shape = *shapeOf(value), wanted = imageShape(shape, m_rank);
        if (wanted == shape) return value;
        if (constantOf(m_module, value)) // as it is, for the passes that fold scales
            return m_patch->reshapedConstant(value, *constantShape(wanted), m_uses);
        const ValueRef made = reshape(value, wanted);
        if (!isWhole) return made;
        m_images[value] = made;
        m_made.push_back(value);
        return made;
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    std::map<ValueRef, ValueRef> m_images; ///< of lines
    std::vector<ValueRef> m_made;          ///< of those, what the patch in hand made
    size_t m_rank = 0;                     ///< of the lines of the node in hand
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Result<Patches> runRowsAsImages(const Module& module, const PassContext&)
{
    return rewriteFunctions<RowRewriter>(module);
}

} // namespace tenon::compiler
