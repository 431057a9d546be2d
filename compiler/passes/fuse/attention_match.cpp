// SPDX-License-Identifier: Apache-2.0
// Finds products of queries and keys, their softmax and the product with the values.
#include "compiler/passes/fuse/attention_match.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr size_t kRank = 4;

class AttentionMatcher
{
public:
    AttentionMatcher(const Module& module, const UseIndex& uses)
        : m_module(module)
        , m_uses(uses)
    {
    }

    std::optional<Attention> match(const NodeRecord& mixed) const
    {
        if (!isOp(mixed, matmulOp) || mixed.attrs.integer("transpose_a", 0) != 0 ||
            mixed.attrs.integer("transpose_b", 0) != 0)
            return std::nullopt;
        Attention found;
        found.value = mixed.operands[1];
        const auto scores = softmaxOf(mixed.operands[0], found);
        if (!scores || !matchScores(*scores, found)) return std::nullopt;
        found.nodes.push_back(mixed.id);
        return hasPlainShapes(mixed, found) ? std::optional(found) : std::nullopt;
    }

private:
    /// The node behind a value that only one node reads, when it applies `op`.
    const NodeRecord* only(ValueRef value, const OpDef& op) const
    {
        return operatorBehind(m_module, m_uses, value, op);
    }

    /// The other operand of `value` = op(x, c), and c, where c has one element.
    std::optional<std::pair<ValueRef, double>> scaled(ValueRef value) const
    {
        if (!value.node.isValid()) return std::nullopt;
        const NodeRecord& node = m_module.node(value.node);
        if (isOp(node, multiplyOp))
            for (const size_t i : {0, 1})
                if (const auto factor = scalarOf(m_module, node.operands[i]))
                    return std::pair(node.operands[1 - i], *factor);
        if (isOp(node, divideOp))
            if (const auto factor = scalarOf(m_module, node.operands[1]); factor && *factor != 0)
                return std::pair(node.operands[0], 1 / *factor);
        return std::nullopt;
    }

    /// What the softmax over the last axis reads.
    std::optional<ValueRef> softmaxOf(ValueRef weights, Attention& found) const
    {
        if (const NodeRecord* softmax = only(weights, softmaxOp)) {
            if (normalizedAxis(softmax->attrs.integer("axis", -1), kRank) != kRank - 1)
                return std::nullopt;
            found.nodes.push_back(softmax->id);
            return softmax->operands[0];
        }
        return guardedSoftmaxOf(weights, found);
    }

    /// exp(x - where(top == -inf, 0, top)) / where(top == -inf, 1, sum): rows that are masked
    /// altogether become zero.
    std::optional<ValueRef> guardedSoftmaxOf(ValueRef weights, Attention& found) const
    {
        const NodeRecord* quotient = only(weights, divideOp);
        if (!quotient) return std::nullopt;
        const NodeRecord& powers = m_module.node(quotient->operands[0].node);
        const NodeRecord* total = only(quotient->operands[1], whereOp);
        if (!isOp(powers, expOp) || !total) return std::nullopt;
        const NodeRecord* shifted = only(powers.operands[0], subtractOp);
        const NodeRecord* sum = only(total->operands[2], sumOp);
        const NodeRecord* shift = shifted ? only(shifted->operands[1], whereOp) : nullptr;
        if (!shift || !sum || sum->operands[0].node != powers.id || !alongRows(*sum)) return {};
        const NodeRecord& isEmpty = m_module.node(shift->operands[0].node);
        const NodeRecord& top = m_module.node(shift->operands[2].node);
        const bool fits =
            isOp(isEmpty, equalOp) && isOp(top, maxOp) && alongRows(top) &&
            total->operands[0].node == isEmpty.id && isEmpty.operands[0].node == top.id &&
            scalarOf(m_module, isEmpty.operands[1]) == -HUGE_VAL &&
            scalarOf(m_module, shift->operands[1]) == 0 &&
            scalarOf(m_module, total->operands[1]) == 1 && top.operands[0] == shifted->operands[0];
        const std::vector<NodeId> nodes{top.id,    isEmpty.id, shift->id, shifted->id,
                                        powers.id, sum->id,    total->id, quotient->id};
        if (!fits || !areRead(nodes)) return std::nullopt;
        found.nodes = nodes;
        found.emptyIsZero = true;
        return shifted->operands[0];
    }

    bool alongRows(const NodeRecord& node) const
    {
        const std::vector<int64_t> axes = node.attrs.integers("axis", {});
        return axes.size() == 1 && normalizedAxis(axes[0], kRank) == kRank - 1 &&
               node.attrs.integer("keepdims", 0) != 0;
    }

    /// True when the node is no result and only `readers` read it.
    bool isReadBy(const std::vector<NodeId>& readers, NodeId id) const
    {
        const std::span<const NodeId> users = m_uses.users(id);
        return !m_uses.isResult(id) && std::all_of(users.begin(), users.end(), [&](NodeId user) {
            return std::find(readers.begin(), readers.end(), user) != readers.end();
        });
    }

    /// True when all but the last of `nodes` are read by these alone.
    bool areRead(const std::vector<NodeId>& nodes) const
    {
        return std::all_of(nodes.begin(), nodes.end() - 1,
                           [&](NodeId id) { return isReadBy(nodes, id); });
    }

    /// scale * (q k^T) + masks, each of them or none.
    bool matchScores(ValueRef scores, Attention& found) const
    {
        if (!isReadBy(found.nodes, scores.node)) return false;
        while (const auto below = behindMask(scores, found)) {
            scores = *below;
            if (!isReadBy(found.nodes, scores.node)) return false;
        }
        while (const auto below = scaled(scores)) {
            if (!isReadBy(found.nodes, scores.node)) return false;
            found.nodes.push_back(scores.node);
            found.scale *= below->second;
            scores = below->first;
        }
        return isReadBy(found.nodes, scores.node) &&
               matchProduct(m_module.node(scores.node), found);
    }

    /// What a mask is added to, as it is or with a dimension of one element in front, as windows
    /// of an image have theirs; nothing where none is.
    std::optional<ValueRef> behindMask(ValueRef scores, Attention& found) const
    {
        const NodeRecord& top = m_module.node(scores.node);
        const bool isReshaped = isOp(top, reshapeOp);
        const NodeRecord& sum = isReshaped ? m_module.node(top.operands[0].node) : top;
        if (!isOp(sum, addOp) || (isReshaped && !m_uses.hasOneUser(sum.id))) return std::nullopt;
        const size_t own = leadsToProduct(sum.operands[0]) ? 0 : 1;
        ValueRef below = sum.operands[own];
        AttentionMask mask{sum.operands[1 - own], m_module.type(sum.operands[1 - own]).shape};
        std::vector<NodeId> nodes{sum.id};
        if (isReshaped) {
            const NodeRecord& inner = m_module.node(below.node);
            if (!isFramed(inner) || !m_uses.hasOneUser(inner.id)) return std::nullopt;
            below = inner.operands[0];
            if (m_module.type(below).shape != m_module.type({top.id, 0}).shape) return std::nullopt;
            if (mask.shape.size() > kRank) mask.shape.erase(mask.shape.begin());
            nodes.insert(nodes.end(), {top.id, inner.id});
        }
        found.nodes.insert(found.nodes.end(), nodes.begin(), nodes.end());
        found.masks.push_back(std::move(mask));
        return below;
    }

    bool matchProduct(const NodeRecord& product, Attention& found) const
    {
        if (!isOp(product, matmulOp) || product.attrs.integer("transpose_a", 0) != 0) return false;
        found.nodes.push_back(product.id);
        found.query = product.operands[0];
        found.key = product.operands[1];
        found.keyIsTransposed = product.attrs.integer("transpose_b", 0) != 0;
        for (ValueRef* operand : {&found.query, &found.key})
            while (const auto below = scaled(*operand)) {
                if (!m_uses.hasOneUser(operand->node)) break;
                found.nodes.push_back(operand->node);
                found.scale *= below->second;
                *operand = below->first;
            }
        return true;
    }

    /// A reshape that puts a dimension of one element in front.
    bool isFramed(const NodeRecord& node) const
    {
        if (!isOp(node, reshapeOp)) return false;
        Shape framed = m_module.type(node.operands[0]).shape;
        framed.insert(framed.begin(), Dim(1));
        return framed == m_module.type({node.id, 0}).shape;
    }

    /// Through factors, sums with masks and dimensions of one element in front.
    bool leadsToProduct(ValueRef value) const
    {
        while (const auto below = scaled(value)) value = below->first;
        if (!value.node.isValid()) return false;
        const NodeRecord& node = m_module.node(value.node);
        if (isFramed(node)) return leadsToProduct(node.operands[0]);
        return isOp(node, matmulOp) || (isOp(node, addOp) && (leadsToProduct(node.operands[0]) ||
                                                              leadsToProduct(node.operands[1])));
    }

    /// Four dimensions everywhere, all but the batch known, nothing broadcast but the mask.
    bool hasPlainShapes(const NodeRecord& mixed, const Attention& found) const
    {
        const Shape& query = m_module.type(found.query).shape;
        const Shape& key = m_module.type(found.key).shape;
        const Shape& value = m_module.type(found.value).shape;
        if (mixed.types[0].dtype != kFloat32) return false;
        for (const Shape* shape : {&query, &key, &value})
            if (shape->size() != kRank || shape->at(0) != query[0] || shape->at(1) != query[1] ||
                !constantShape({shape->begin() + 1, shape->end()}))
                return false;
        return std::all_of(found.masks.begin(), found.masks.end(), [&](const AttentionMask& mask) {
            return fitsScores(mask, {query[0], query[1], query[2], value[2]});
        });
    }

    bool fitsScores(const AttentionMask& mask, const Shape& scores) const
    {
        const TensorType& type = m_module.type(mask.value);
        if (mask.shape.size() > kRank || type.dtype != kFloat32) return false;
        if (mask.shape != type.shape && !constantShape(mask.shape)) return false;
        const size_t skipped = kRank - mask.shape.size();
        for (size_t d = 0; d < mask.shape.size(); ++d)
            if (mask.shape[d] != Dim(1) && mask.shape[d] != scores[d + skipped]) return false;
        return true;
    }

    const Module& m_module;
    const UseIndex& m_uses;
};

} // namespace

std::optional<Attention> matchAttention(const Module& module, const UseIndex& uses,
                                        const NodeRecord& mixed)
{
    return AttentionMatcher(module, uses).match(mixed);
}

} // namespace tenon::compiler
