// SPDX-License-Identifier: Apache-2.0
// FuseAttention: a product of queries and keys, its softmax and the product with the values become
// one operator, which reads and writes through the transpositions, splits and reshapes around.
// Stands after the simplifications and before layouts are chosen.
#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/attention_views.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::compiler {
namespace {

constexpr size_t kRank = 4;

/// What stands between the two products.
struct Attention
{
    std::vector<NodeId> nodes; ///< all that go away for certain
    ValueRef query, key, value, mask;
    double scale = 1;
    bool keyIsTransposed = false; ///< key lies as [.., keys, depth]
    bool emptyIsZero = false;
};

class AttentionFuser
{
public:
    AttentionFuser(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order)
            if (const auto found = match(m_module.node(id)))
                patches.push_back(patchOf(m_module.node(id), *found));
        return patches;
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

    /// True when all but the last of `nodes` are read by these alone.
    bool areRead(const std::vector<NodeId>& nodes) const
    {
        return std::all_of(nodes.begin(), nodes.end() - 1, [&](NodeId id) {
            const std::span<const NodeId> users = m_uses.users(id);
            return !m_uses.isResult(id) &&
                   std::all_of(users.begin(), users.end(), [&](NodeId user) {
                       return std::find(nodes.begin(), nodes.end(), user) != nodes.end();
                   });
        });
    }

    /// scale * (q k^T) + mask, each of them or none.
    bool matchScores(ValueRef scores, Attention& found) const
    {
        const auto isReadHere = [&](ValueRef value) {
            const std::span<const NodeId> users = m_uses.users(value.node);
            return !m_uses.isResult(value.node) &&
                   std::all_of(users.begin(), users.end(), [&](NodeId user) {
                       return std::find(found.nodes.begin(), found.nodes.end(), user) !=
                              found.nodes.end();
                   });
        };
        if (!isReadHere(scores)) return false;
        const NodeRecord& sum = m_module.node(scores.node);
        if (isOp(sum, addOp)) {
            const size_t own = leadsToProduct(sum.operands[0]) ? 0 : 1;
            found.nodes.push_back(sum.id);
            found.mask = sum.operands[1 - own];
            scores = sum.operands[own];
        }
        while (const auto below = scaled(scores)) {
            if (!isReadHere(scores)) return false;
            found.nodes.push_back(scores.node);
            found.scale *= below->second;
            scores = below->first;
        }
        const NodeRecord& product = m_module.node(scores.node);
        if (!isOp(product, matmulOp) || !isReadHere(scores) ||
            product.attrs.integer("transpose_a", 0) != 0)
            return false;
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

    bool leadsToProduct(ValueRef value) const
    {
        while (const auto below = scaled(value)) value = below->first;
        return value.node.isValid() && isOp(m_module.node(value.node), matmulOp);
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
        return !found.mask.node.isValid() ||
               fitsScores(found.mask, {query[0], query[1], query[2], value[2]});
    }

    bool fitsScores(ValueRef mask, const Shape& scores) const
    {
        const TensorType& type = m_module.type(mask);
        if (type.shape.size() > kRank || type.dtype != kFloat32) return false;
        const size_t skipped = kRank - type.shape.size();
        for (size_t d = 0; d < type.shape.size(); ++d)
            if (type.shape[d] != Dim(1) && type.shape[d] != scores[d + skipped]) return false;
        return true;
    }

    bool isOpen(ValueRef value) const { return !constantShape(m_module.type(value).shape); }

    /// Where the number of items is open they stay the first axis, so that each is computed alone.
    AttentionView viewOf(ValueRef value, const std::vector<int64_t>& axes,
                         std::vector<NodeId>& nodes) const
    {
        std::vector<NodeId> passed = nodes;
        const AttentionView view = viewThrough(m_module, value, axes, passed);
        if (isOpen(value) && view.axes.front() != 0) return {value, axes, {0, 0, 0, 0}};
        nodes = std::move(passed);
        return view;
    }

    Patch patchOf(const NodeRecord& mixed, const Attention& found) const
    {
        const Shape& query = m_module.type(found.query).shape;
        const Shape& value = m_module.type(found.value).shape;
        std::vector<NodeId> nodes = found.nodes;
        const std::vector<int64_t> keyAxes = found.keyIsTransposed
                                                 ? std::vector<int64_t>{0, 1, 2, 3}
                                                 : std::vector<int64_t>{0, 1, 3, 2};
        const AttentionView views[] = {viewOf(found.query, {0, 1, 2, 3}, nodes),
                                       viewOf(found.key, keyAxes, nodes),
                                       viewOf(found.value, {0, 1, 2, 3}, nodes)};
        const auto [last, rounding] = lastOf(mixed);
        if (last->id != mixed.id) nodes.push_back(last->id);
        if (rounding) nodes.push_back(rounding->id);
        const std::vector<NodeId> gone = withoutReaders(m_uses, nodes, last->id);

        const int64_t batch = query[0].constant().value_or(0); // 0: that of the queries
        Attrs attrs{
            {"extents", std::vector<int64_t>{batch, query[1].value(), query[2].value(),
                                             value[2].value(), query[3].value(), value[3].value()}},
            {"scale", found.scale}};
        if (last->id != mixed.id) attrs.set("out_axes", last->attrs.integers("axes", {}));
        if (found.emptyIsZero) attrs.set("empty_rows", std::string("zero"));
        PatchWriter patch(m_module, m_function.id, "fuse-attention",
                          query[2].text() + " x " + value[2].text() + " scores of each of " +
                              (query[0] * query[1]).text() + " heads stay in the cache",
                          inOrder(gone));
        constexpr std::string_view kNames[] = {"q", "k", "v"};
        std::vector<ValueRef> operands = numbersOf(patch, views);
        for (size_t i = 0; i < 3; ++i) {
            if (views[i].axes != std::vector<int64_t>{0, 1, 2, 3})
                attrs.set(std::string(kNames[i]) + "_axes", views[i].axes);
            if (views[i].begin != std::vector<int64_t>(views[i].axes.size(), 0))
                attrs.set(std::string(kNames[i]) + "_begin", views[i].begin);
        }
        if (found.mask.node.isValid()) operands.push_back(found.mask);
        const ValueRef out = patch.op(attentionOp, operands, attrs);
        patch.replace({last->id, 0}, rounding ? patch.opOn(*rounding, out) : out);
        for (const NodeId id : gone) patch.erase(id);
        return patch.take();
    }

    /// What the views read, each converted once.
    std::vector<ValueRef> numbersOf(PatchWriter& patch, std::span<const AttentionView> views) const
    {
        std::map<std::vector<ValueRef>, ValueRef> numbers; // by what is converted, and how
        std::vector<ValueRef> out;
        for (const AttentionView& view : views) {
            if (!view.conversion) {
                out.push_back(view.source);
                continue;
            }
            std::vector<ValueRef> key = view.conversion->operands;
            key[0] = view.source;
            const auto [known, isNew] = numbers.try_emplace(std::move(key));
            if (isNew) known->second = converted(patch, view.source, *view.conversion);
            out.push_back(known->second);
        }
        return out;
    }

    /// In front of a reshape, where the layer that made the integers converts them as well.
    ValueRef converted(PatchWriter& patch, ValueRef value, const NodeRecord& conversion) const
    {
        const NodeRecord& node = m_module.node(value.node);
        if (!isOp(node, reshapeOp) || isOpen(value)) return patch.opOn(conversion, value);
        return patch.opOn(node, patch.opOn(conversion, node.operands[0]));
    }

    /// What the operator takes the place of.
    struct Last
    {
        const NodeRecord* node;
        const NodeRecord* rounding; ///< to integers, in between; null: none
    };

    /// The transposition behind the product that keeps its elements together, or the product.
    Last lastOf(const NodeRecord& mixed) const
    {
        const NodeRecord* rounding = nullptr;
        const NodeRecord* at = &mixed;
        while (m_uses.hasOneUser(at->id)) {
            at = &m_module.node(m_uses.users(at->id)[0]);
            if (rounding || !isOp(*at, qnnQuantizeOp) || !convertsByOneScale(m_module, *at)) break;
            rounding = at;
        }
        const std::vector<int64_t> order = at->attrs.integers("axes", {});
        const bool fits = isOp(*at, transposeOp) && order.size() == kRank &&
                          order.back() == kRank - 1 &&
                          (order.front() == 0 || !isOpen({mixed.id, 0}));
        return fits ? Last{at, rounding} : Last{&mixed, nullptr};
    }

    std::vector<NodeId> inOrder(const std::vector<NodeId>& nodes) const
    {
        std::vector<NodeId> ordered;
        for (const NodeId id : m_function.order)
            if (std::find(nodes.begin(), nodes.end(), id) != nodes.end()) ordered.push_back(id);
        return ordered;
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runFuseAttention(const Module& module, const PassContext&)
{
    return rewriteFunctions<AttentionFuser>(module);
}

} // namespace tenon::compiler
