// SPDX-License-Identifier: Apache-2.0
// ChannelsFirst: models of frameworks that keep channels last, [N, H, W, C], come with each
// convolution between transpositions from there to [N, C, H, W] and back. What stands between two
// of them works on [N, C, H, W], too: the transpositions meet and go, and the convolution's kernel
// computes what is elementwise behind it.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <array>
#include <map>

namespace tenon::compiler {
namespace {

using Extents = std::vector<int64_t>;

constexpr size_t kRank = 4;
constexpr std::array<int64_t, kRank> kToLast{0, 2, 3, 1}, kToFirst{0, 3, 1, 2};

Extents asExtents(const std::array<int64_t, kRank>& axes) { return {axes.begin(), axes.end()}; }

/// Where an axis of [N, H, W, C] is in [N, C, H, W].
int64_t axisOfFirst(int64_t axis)
{
    return kToLast[static_cast<size_t>(normalizedAxis(axis, kRank))];
}

class ChannelMover
{
public:
    ChannelMover(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    /// Nothing where no transposition goes: they would only stand elsewhere.
    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind != NodeKind::Op || node.types.size() != 1) continue;
            if (isTransposition(node, kToLast)) {
                m_images[{id, 0}] = node.operands[0];
                continue;
            }
            const bool isKnown =
                std::any_of(node.operands.begin(), node.operands.end(),
                            [&](ValueRef operand) { return m_images.count(operand) > 0; });
            if (isKnown) rewrite(id, node);
        }
        return m_hasMet ? std::move(m_patches) : Patches{};
    }

private:
    std::optional<Extents> shapeOf(ValueRef value) const
    {
        if (!value.node.isValid()) return std::nullopt;
        const DataType dtype = m_module.type(value).dtype;
        const bool isOfImages =
            dtype == kFloat32 || dtype == kInt8 || dtype == kUInt8 || dtype == kInt32;
        return isOfImages ? knownShape(m_module, value) : std::nullopt;
    }

    bool isTransposition(const NodeRecord& node, const std::array<int64_t, kRank>& axes) const
    {
        return isOp(node, transposeOp) && node.attrs.integers("axes", {}) == asExtents(axes) &&
               shapeOf({node.id, 0}).has_value();
    }

    void rewrite(NodeId id, const NodeRecord& node)
    {
        PatchWriter patch(m_module, m_function.id, "channels-first",
                          nodeLabel(m_module, node) + " works on channels before rows", {id});
        m_patch = &patch;
        if (isTransposition(node, kToFirst)) {
            m_hasMet = true;
            patch.replaceAndErase(id, m_images.at(node.operands[0]));
        } else if (const auto done = replacement(node)) {
            patch.replaceAndErase(id, *done);
        } else {
            return;
        }
        m_patches.push_back(patch.take());
    }

    /// The channels last again, of what the node computes with channels first.
    std::optional<ValueRef> replacement(const NodeRecord& node)
    {
        const auto result = shapeOf({node.id, 0});
        if (!result || !std::all_of(node.operands.begin(), node.operands.end(),
                                    [&](ValueRef operand) { return canStandBeside(operand); }))
            return std::nullopt;
        const auto image = imageOf(node);
        if (!image || result->size() != kRank) return image;
        m_images[{node.id, 0}] = *image;
        return m_patch->op(transposeOp, {*image}, {{"axes", asExtents(kToLast)}});
    }

    std::optional<ValueRef> imageOf(const NodeRecord& node)
    {
        const OpDef& op = factsOf(node);
        if (op.blockedForm == BlockedForm::ByReduction) return reduction(op, node);
        if (isOp(node, concatenateOp)) return concatenation(node);
        if (isOp(node, stridedSliceOp)) return slice(node);
        if (isOp(node, padOp)) return padded(node);
        if (isOneOf(node, qnnQuantizeOp, qnnDequantizeOp)) return scaled(node);
        if (isOp(node, takeOp)) return lookedUp(node);
        if (!isElementwise(op)) return std::nullopt;
        return m_patch->op(op, images(node), node.attrs);
    }

    /// Of rows and columns; without these axes the result is the same.
    std::optional<ValueRef> reduction(const OpDef& op, const NodeRecord& node)
    {
        Extents axes = node.attrs.integers("axis", {});
        if (axes.empty() || node.attrs.integer("exclude", 0) != 0) return std::nullopt;
        for (int64_t& axis : axes) axis = axisOfFirst(axis);
        std::sort(axes.begin(), axes.end());
        if (axes != Extents{2, 3}) return std::nullopt;
        Attrs attrs = node.attrs;
        attrs.set("axis", std::move(axes));
        return m_patch->op(op, images(node), std::move(attrs));
    }

    std::optional<ValueRef> concatenation(const NodeRecord& node)
    {
        const auto isImage = [&](ValueRef operand) { return m_images.count(operand) > 0; };
        if (!std::all_of(node.operands.begin(), node.operands.end(), isImage)) return std::nullopt;
        return m_patch->op(concatenateOp, images(node),
                           {{"axis", axisOfFirst(node.attrs.integer("axis", 0))}});
    }

    std::optional<ValueRef> slice(const NodeRecord& node)
    {
        Extents axes = node.attrs.integers("axes", {});
        if (axes.empty()) return std::nullopt;
        for (int64_t& axis : axes) axis = axisOfFirst(axis);
        Attrs attrs = node.attrs;
        attrs.set("axes", std::move(axes));
        return m_patch->op(stridedSliceOp, images(node), std::move(attrs));
    }

    std::optional<ValueRef> padded(const NodeRecord& node)
    {
        const Extents width = node.attrs.integers("pad_width", {});
        if (width.size() != 2 * kRank || node.operands.size() != 1) return std::nullopt;
        Extents moved;
        for (const int64_t axis : kToFirst)
            for (const int64_t side : {0, 1})
                moved.push_back(width[static_cast<size_t>(2 * axis + side)]);
        Attrs attrs = node.attrs;
        attrs.set("pad_width", std::move(moved));
        return m_patch->op(padOp, images(node), std::move(attrs));
    }

    /// Integers for real values or the other way round, of one scale.
    std::optional<ValueRef> scaled(const NodeRecord& node)
    {
        const auto image = m_images.find(node.operands[0]);
        if (image == m_images.end() || !convertsByOneScale(m_module, node)) return std::nullopt;
        return m_patch->opOn(node, image->second);
    }

    /// Elements of a row, by an image of their places.
    std::optional<ValueRef> lookedUp(const NodeRecord& node)
    {
        const ValueRef table = node.operands[0], index = node.operands[1];
        if (shapeOf(table)->size() != 1 || m_images.count(index) == 0) return std::nullopt;
        return m_patch->op(takeOp, {table, m_images.at(index)}, node.attrs);
    }

    /// Images, and what lies the same either way: all that varies along one axis at most, or by
    /// channel only, and what is absent.
    bool canStandBeside(ValueRef operand) const
    {
        if (!operand.node.isValid() || m_images.count(operand) > 0) return true;
        const auto shape = shapeOf(operand);
        if (!shape || shape->size() > kRank) return false;
        const bool isByChannel = shape->size() == kRank && shape->at(1) == 1 && shape->at(2) == 1;
        return isByChannel || std::count_if(shape->begin(), shape->end(),
                                            [](int64_t extent) { return extent != 1; }) <= 1;
    }

    std::vector<ValueRef> images(const NodeRecord& node)
    {
        std::vector<ValueRef> out;
        for (const ValueRef operand : node.operands)
            out.push_back(operand.node.isValid() ? image(operand) : operand);
        return out;
    }

    ValueRef image(ValueRef value)
    {
        const auto found = m_images.find(value);
        if (found != m_images.end()) return found->second;
        Extents last = *shapeOf(value), first;
        if (std::all_of(last.begin(), last.end(), [](int64_t extent) { return extent == 1; }))
            return value;
        last.insert(last.begin(), kRank - last.size(), 1);
        for (const int64_t axis : kToFirst) first.push_back(last[static_cast<size_t>(axis)]);
        if (constantOf(m_module, value))
            return m_patch->reshapedConstant(value, std::move(first), m_uses);
        return m_patch->op(reshapeOp, {value}, {{"newshape", std::move(first)}});
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    std::map<ValueRef, ValueRef> m_images; ///< of what has channels last
    bool m_hasMet = false;
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Result<Patches> runChannelsFirst(const Module& module, const PassContext&)
{
    return rewriteFunctions<ChannelMover>(module);
}

} // namespace tenon::compiler
