// SPDX-License-Identifier: Apache-2.0
// RowsAsImages: a convolution along one axis is one of images of one row, [N, C, 1, L], between
// reshapes from [N, C, L] and back. What stands between two such convolutions, or behind the last
// one, works on the images, too: scales then stand beside the convolution that they can be folded
// into, its kernel computes what is elementwise behind it, and channels stay in blocks.
#include "compiler/ops/ops.h"
#include "compiler/ops/shape_attrs.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

using Extents = std::vector<int64_t>;

constexpr size_t kRowsRank = 3;
constexpr int64_t kChannelAxis = 1, kRowsAxis = 2, kImageRow = 2, kImageColumn = 3;

/// A shape that stands beside [N, C, L], beside [N, C, 1, L]; any of these may be open.
Shape imageShape(Shape shape)
{
    if (shape.size() > 1) shape.insert(shape.end() - 1, Dim(1));
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
            if (isImageAsRows(node)) {
                m_images[{id, 0}] = node.operands[0];
                continue;
            }
            const bool isKnown =
                std::any_of(node.operands.begin(), node.operands.end(),
                            [&](ValueRef operand) { return m_images.count(operand) > 0; });
            if (isKnown) rewrite(id, node);
        }
        return std::move(m_patches);
    }

private:
    std::optional<Shape> shapeOf(ValueRef value) const
    {
        if (!value.node.isValid()) return std::nullopt;
        const DataType number = m_module.type(value).dtype;
        if (number != kFloat32 && number != kInt8 && number != kUInt8) return std::nullopt;
        return m_module.type(value).shape;
    }
    bool isRows(ValueRef value) const
    {
        const auto shape = shapeOf(value);
        return shape && shape->size() == kRowsRank;
    }

    /// [N, C, 1, L] -> [N, C, L].
    bool isImageAsRows(const NodeRecord& node) const
    {
        if (!isOp(node, reshapeOp) || !isRows({node.id, 0})) return false;
        const auto image = shapeOf(node.operands[0]);
        return image && *image == imageShape(*shapeOf({node.id, 0}));
    }

    void rewrite(NodeId id, const NodeRecord& node)
    {
        PatchWriter patch(m_module, m_function.id, "rows-to-images",
                          nodeLabel(m_module, node) + " works on images of one row", {id});
        m_patch = &patch;
        m_made.clear();
        const auto done = isOp(node, reshapeOp) ? imageAgain(node) : replacement(node);
        if (!done) {
            for (const ValueRef value : m_made) m_images.erase(value); // its patch is no more
            return;
        }
        patch.replaceAndErase(id, *done);
        m_patches.push_back(patch.take());
    }

    /// [N, C, L] -> [N, C, 1, L], in front of the next convolution.
    std::optional<ValueRef> imageAgain(const NodeRecord& node) const
    {
        const ValueRef image = m_images.at(node.operands[0]);
        const auto rows = shapeOf(node.operands[0]), wanted = shapeOf({node.id, 0});
        if (!wanted || *wanted != imageShape(*rows)) return std::nullopt;
        return image;
    }

    /// The rows again, of what the node computes on images.
    std::optional<ValueRef> replacement(const NodeRecord& node)
    {
        const auto result = shapeOf({node.id, 0});
        if (!result) return std::nullopt;
        const auto image = imageOf(node);
        if (!image) return std::nullopt;
        if (result->size() == kRowsRank) m_images[{node.id, 0}] = *image;
        return reshape(*image, *result);
    }

    std::optional<ValueRef> imageOf(const NodeRecord& node)
    {
        const OpDef& op = factsOf(node);
        if (op.blockedForm == BlockedForm::ByReduction) return reduction(op, node);
        if (!isRows({node.id, 0})) return std::nullopt;
        if (isOp(node, concatenateOp)) return concatenation(node);
        if (isOp(node, stridedSliceOp)) return slice(node);
        if (isOp(node, padOp)) return padded(node);
        return elementwise(op, node);
    }

    /// Over the columns.
    std::optional<ValueRef> reduction(const OpDef& op, const NodeRecord& node)
    {
        const Extents axes = node.attrs.integers("axis", {});
        if (axes.size() != 1 || normalizedAxis(axes[0], kRowsRank) != kRowsAxis ||
            node.attrs.integer("exclude", 0) != 0)
            return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("axis", Extents{kImageRow, kImageColumn});
        attrs.set("keepdims", int64_t{1}); // as images, whose channels may be widened
        return m_patch->op(op, {image(node.operands[0])}, std::move(attrs));
    }

    /// Side by side as channels or as columns.
    std::optional<ValueRef> concatenation(const NodeRecord& node)
    {
        if (!std::all_of(node.operands.begin(), node.operands.end(),
                         [&](ValueRef operand) { return isRows(operand); }))
            return std::nullopt;
        const int64_t axis = normalizedAxis(node.attrs.integer("axis", 0), kRowsRank);
        std::vector<ValueRef> parts;
        for (const ValueRef operand : node.operands) parts.push_back(image(operand));
        return m_patch->op(concatenateOp, parts,
                           {{"axis", axis == kRowsAxis ? kImageColumn : axis}});
    }

    /// Of columns.
    std::optional<ValueRef> slice(const NodeRecord& node)
    {
        const Extents axes = node.attrs.integers("axes", {});
        if (axes.size() != 1 || normalizedAxis(axes[0], kRowsRank) != kRowsAxis)
            return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("axes", Extents{kImageColumn});
        return m_patch->op(stridedSliceOp, {image(node.operands[0])}, std::move(attrs));
    }

    /// With columns before and behind, as causal convolutions read them.
    std::optional<ValueRef> padded(const NodeRecord& node)
    {
        Extents width = node.attrs.integers("pad_width", {});
        if (width.size() != 2 * kRowsRank || node.operands.size() != 1 ||
            std::any_of(width.begin(), width.end() - 2, [](int64_t wide) { return wide != 0; }))
            return std::nullopt;
        Attrs attrs = node.attrs;
        width.insert(width.begin(), {0, 0});
        attrs.set("pad_width", std::move(width));
        return m_patch->op(padOp, {image(node.operands[0])}, std::move(attrs));
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
        return shape && shape->size() <= kRowsRank;
    }

    ValueRef reshape(ValueRef value, const Shape& shape)
    {
        return m_patch->op(reshapeOp, {value}, shapeAttrs(shape));
    }

    /// The value beside images: one of fewer dimensions, too.
    ValueRef image(ValueRef value)
    {
        const auto found = m_images.find(value);
        if (found != m_images.end()) return found->second;
        const Shape shape = *shapeOf(value);
        if (shape.size() < 2) return value;
        if (constantOf(m_module, value)) // as it is, for the passes that fold scales
            return m_patch->reshapedConstant(value, *constantShape(imageShape(shape)), m_uses);
        const ValueRef made = reshape(value, imageShape(shape));
        if (shape.size() < kRowsRank) return made;
        m_images[value] = made;
        m_made.push_back(value);
        return made;
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    std::map<ValueRef, ValueRef> m_images; ///< of rows
    std::vector<ValueRef> m_made;          ///< of those, what the patch in hand made
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Result<Patches> runRowsAsImages(const Module& module, const PassContext&)
{
    return rewriteFunctions<RowRewriter>(module);
}

} // namespace tenon::compiler
