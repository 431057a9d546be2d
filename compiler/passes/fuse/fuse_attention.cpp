// SPDX-License-Identifier: Apache-2.0
// FuseAttention: a product of queries and keys, its softmax and the product with the values become
// one operator, which reads and writes through the transpositions, splits and reshapes around.
// Stands after the simplifications and before layouts are chosen.
#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/attention_match.h"
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

const std::vector<int64_t> kInOrder{0, 1, 2, 3};
constexpr int64_t kQueryAxis = 2;

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
            if (const auto found = matchAttention(m_module, m_uses, m_module.node(id)))
                patches.push_back(patchOf(m_module.node(id), *found));
        return patches;
    }

private:
    bool isOpen(ValueRef value) const { return !constantShape(m_module.type(value).shape); }

    /// What the operator takes the place of.
    struct Last
    {
        const NodeRecord* node;
        const NodeRecord* rounding; ///< to integers, in between; null: none
    };

    /// Where the number of items is open they stay the first axis, so that each is computed alone.
    AttentionView viewOf(ValueRef value, const std::vector<int64_t>& axes, Heads heads,
                         std::vector<NodeId>& nodes) const
    {
        std::vector<NodeId> passed = nodes;
        const AttentionView view = viewThrough(m_module, value, axes, passed, heads);
        if (isOpen(value) && view.axes.front() != 0) return {value, axes, {0, 0, 0, 0}};
        nodes = std::move(passed);
        return view;
    }

    /// Of keys and values. Heads that were repeated are read where they lie if both were, alike.
    std::vector<AttentionView> viewsOfPairs(const Attention& found,
                                            std::vector<NodeId>& nodes) const
    {
        const std::vector<int64_t> keyAxes = found.keyIsTransposed
                                                 ? std::vector<int64_t>{0, 1, 2, 3}
                                                 : std::vector<int64_t>{0, 1, 3, 2};
        for (const Heads heads : {Heads::Shared, Heads::Own}) {
            std::vector<NodeId> passed = nodes;
            std::vector<AttentionView> views{viewOf(found.key, keyAxes, heads, passed),
                                             viewOf(found.value, kInOrder, heads, passed)};
            if (views[0].shared != views[1].shared) continue;
            nodes = std::move(passed);
            return views;
        }
        return {};
    }

    /// True when heads that share keys have one query each: they may as well be those of one head.
    bool areOneEach(const Attention& found, int64_t shared, const Last& last) const
    {
        const Shape& query = m_module.type(found.query).shape;
        std::vector<int64_t> order = last.node->attrs.integers("axes", kInOrder);
        std::erase(order, kQueryAxis);
        const bool areOfAllHeads =
            std::all_of(found.masks.begin(), found.masks.end(), [](const AttentionMask& mask) {
                return mask.shape.size() < 3 || mask.shape[mask.shape.size() - 3] == Dim(1);
            });
        return shared > 1 && query[kQueryAxis] == Dim(1) && !isOpen(found.query) &&
               !last.rounding && areOfAllHeads && std::is_sorted(order.begin(), order.end());
    }

    ValueRef sumOf(PatchWriter& patch, const std::vector<AttentionMask>& masks) const
    {
        ValueRef sum;
        for (const AttentionMask& mask : masks) {
            const bool isAsIs = mask.shape == m_module.type(mask.value).shape;
            const ValueRef one =
                isAsIs ? mask.value : reshaped(patch, mask.value, *constantShape(mask.shape));
            sum = sum.node.isValid() ? patch.op(addOp, {sum, one}) : one;
        }
        return sum;
    }

    ValueRef reshaped(PatchWriter& patch, ValueRef value, const std::vector<int64_t>& shape) const
    {
        return patch.op(reshapeOp, {value}, {{"newshape", shape}});
    }

    Attrs attrsOf(const Attention& found, std::span<const AttentionView> views,
                  bool isOneEach) const
    {
        const Shape& query = m_module.type(found.query).shape;
        const Shape& value = m_module.type(found.value).shape;
        const int64_t shared = views[1].shared;
        const int64_t batch = query[0].constant().value_or(0); // 0: that of the queries
        const int64_t heads = query[1].value() / (isOneEach ? shared : 1);
        const int64_t queries = isOneEach ? shared : query[2].value();
        Attrs attrs{{"extents", std::vector<int64_t>{batch, heads, queries, value[2].value(),
                                                     query[3].value(), value[3].value()}},
                    {"scale", found.scale}};
        if (found.emptyIsZero) attrs.set("empty_rows", std::string("zero"));
        if (shared > 1 && !isOneEach) attrs.set("shared", shared);
        constexpr std::string_view kNames[] = {"q", "k", "v"};
        for (size_t i = 0; i < 3; ++i) {
            if (views[i].axes != kInOrder)
                attrs.set(std::string(kNames[i]) + "_axes", views[i].axes);
            if (views[i].begin != std::vector<int64_t>(views[i].axes.size(), 0))
                attrs.set(std::string(kNames[i]) + "_begin", views[i].begin);
        }
        return attrs;
    }

    Patch patchOf(const NodeRecord& mixed, const Attention& found) const
    {
        const Shape& query = m_module.type(found.query).shape;
        std::vector<NodeId> nodes = found.nodes;
        const Last last = lastOf(mixed);
        std::vector<AttentionView> views = viewsOfPairs(found, nodes);
        const bool isOneEach = areOneEach(found, views[0].shared, last);
        views.insert(views.begin(), isOneEach ? AttentionView{found.query, kInOrder, {0, 0, 0, 0}}
                                              : viewOf(found.query, kInOrder, Heads::Own, nodes));
        if (last.node->id != mixed.id) nodes.push_back(last.node->id);
        if (last.rounding) nodes.push_back(last.rounding->id);
        const std::vector<NodeId> gone = withoutReaders(m_uses, nodes, last.node->id);

        Attrs attrs = attrsOf(found, views, isOneEach);
        const std::vector<int64_t> extents = attrs.integers("extents", {});
        PatchWriter patch(m_module, m_function.id, "fuse-attention",
                          query[2].text() + " x " + Dim(extents[3]).text() + " scores of each of " +
                              (query[0] * query[1]).text() + " heads stay in the cache",
                          inOrder(gone));
        std::vector<ValueRef> operands = numbersOf(patch, views);
        if (!found.masks.empty()) operands.push_back(sumOf(patch, found.masks));
        if (isOneEach)
            operands[0] =
                reshaped(patch, operands[0], {extents[0], extents[1], extents[2], extents[4]});
        else if (last.node->id != mixed.id)
            attrs.set("out_axes", last.node->attrs.integers("axes", {}));
        ValueRef out = patch.op(attentionOp, operands, attrs);
        if (last.rounding) out = patch.opOn(*last.rounding, out);
        if (isOneEach)
            out = reshaped(patch, out, *constantShape(m_module.type({last.node->id, 0}).shape));
        patch.replace({last.node->id, 0}, out);
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
