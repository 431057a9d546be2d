// SPDX-License-Identifier: Apache-2.0
// Walks up from an operand, keeping track of what each dimension stands for.
#include "compiler/passes/fuse/attention_views.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kFixed = -1;

bool throughTranspose(const NodeRecord& node, AttentionView& view)
{
    const std::vector<int64_t> order = node.attrs.integers("axes", {});
    if (order.size() != view.axes.size()) return false;
    AttentionView below = view;
    for (size_t d = 0; d < order.size(); ++d) {
        const auto from = static_cast<size_t>(normalizedAxis(order[d], order.size()));
        below.axes[from] = view.axes[d];
        below.begin[from] = view.begin[d];
    }
    view = below;
    return true;
}

bool throughSplit(const Module& module, const NodeRecord& node, AttentionView& view)
{
    const auto axis =
        static_cast<size_t>(normalizedAxis(node.attrs.integer("axis", 0), view.axes.size()));
    for (uint32_t part = 0; part < view.source.index; ++part) {
        const auto size = module.type({node.id, part}).shape[axis].constant();
        if (!size) return false;
        view.begin[axis] += *size;
    }
    return true;
}

/// Dimensions of one element come and go.
bool throughReshape(const Module& module, const NodeRecord& node, AttentionView& view)
{
    const Shape& from = module.type(node.operands[0]).shape;
    const Shape& to = module.type({node.id, 0}).shape;
    const Dim one(1);
    AttentionView below = view;
    below.axes.assign(from.size(), kFixed);
    below.begin.assign(from.size(), 0);
    std::vector<int64_t> lost; // axes of one element that the source does not have
    size_t d = 0;
    const auto skipOnes = [&] {
        for (; d < to.size() && to[d] == one; ++d)
            if (view.axes[d] != kFixed) lost.push_back(view.axes[d]);
    };
    for (size_t s = 0; s < from.size(); ++s) {
        if (from[s] == one) continue;
        skipOnes();
        if (d >= to.size() || to[d] != from[s]) return false;
        below.axes[s] = view.axes[d];
        below.begin[s] = view.begin[d++];
    }
    skipOnes();
    // An axis of one element may be any dimension of one element.
    for (size_t s = 0; s < from.size() && !lost.empty(); ++s)
        if (from[s] == one) {
            below.axes[s] = lost.front();
            lost.erase(lost.begin());
        }
    if (!lost.empty()) return false;
    view = below;
    return true;
}

/// The dimension of the heads; the number of dimensions when there is none.
size_t headOf(const AttentionView& view)
{
    const auto found = std::find(view.axes.begin(), view.axes.end(), AttentionView::kHead);
    return static_cast<size_t>(found - view.axes.begin());
}

/// Heads that are repeated, each some times in turn: a dimension of one element is broadcast, then
/// joined with the heads in front of it. The two nodes, or none.
std::vector<NodeId> throughSharing(const Module& module, AttentionView& view)
{
    const NodeRecord& joined = module.node(view.source.node);
    if (!isOp(joined, reshapeOp) || view.shared > 1) return {};
    const NodeRecord& repeated = module.node(joined.operands[0].node);
    const size_t head = headOf(view);
    if (!isOp(repeated, broadcastToOp) || head == view.axes.size() || view.begin[head] != 0)
        return {};
    const Shape& to = module.type({joined.id, 0}).shape;
    const Shape& from = module.type(repeated.operands[0]).shape;
    const Shape& between = module.type({repeated.id, 0}).shape;
    Shape wanted = between;
    if (from.size() != to.size() + 1 || between.size() != from.size()) return {};
    wanted[head + 1] = Dim(1);
    Shape rest = between;
    rest.erase(rest.begin() + static_cast<int64_t>(head) + 1);
    rest[head] = to[head];
    const auto times = between[head + 1].constant();
    if (from != wanted || rest != to || !times || to[head] != between[head] * Dim(*times))
        return {};
    view.shared = *times;
    view.axes.insert(view.axes.begin() + static_cast<int64_t>(head) + 1, kFixed);
    view.begin.insert(view.begin.begin() + static_cast<int64_t>(head) + 1, 0);
    view.source = repeated.operands[0];
    return {joined.id, repeated.id};
}

/// One head that is repeated for all. The node, or none.
std::vector<NodeId> throughOneHead(const Module& module, AttentionView& view)
{
    const NodeRecord& repeated = module.node(view.source.node);
    const size_t head = headOf(view);
    if (!isOp(repeated, broadcastToOp) || view.shared > 1 || head == view.axes.size()) return {};
    const Shape& to = module.type({repeated.id, 0}).shape;
    Shape wanted = to;
    wanted[head] = Dim(1);
    const auto times = to[head].constant();
    if (module.type(repeated.operands[0]).shape != wanted || !times || view.begin[head] != 0)
        return {};
    view.shared = *times;
    view.source = repeated.operands[0];
    return {repeated.id};
}

bool stepUp(const Module& module, AttentionView& view)
{
    const NodeRecord& node = module.node(view.source.node);
    const bool moved = isOp(node, transposeOp) ? throughTranspose(node, view)
                       : isOp(node, splitOp)   ? throughSplit(module, node, view)
                       : isOp(node, reshapeOp) ? throughReshape(module, node, view)
                                               : false;
    if (moved) view.source = node.operands[0];
    return moved;
}

/// The nodes that were passed.
std::vector<NodeId> walkUp(const Module& module, AttentionView& view, Heads heads)
{
    std::vector<NodeId> passed;
    for (;;) {
        const NodeId node = view.source.node;
        std::vector<NodeId> sharing;
        if (heads == Heads::Shared) sharing = throughSharing(module, view);
        if (heads == Heads::Shared && sharing.empty()) sharing = throughOneHead(module, view);
        passed.insert(passed.end(), sharing.begin(), sharing.end());
        if (!sharing.empty()) continue;
        if (!stepUp(module, view)) return passed;
        passed.push_back(node);
    }
}

} // namespace

AttentionView viewThrough(const Module& module, ValueRef value, std::vector<int64_t> axes,
                          std::vector<NodeId>& nodes, Heads heads)
{
    AttentionView view{value, std::move(axes), {}};
    view.begin.resize(view.axes.size(), 0);
    const auto add = [&](const std::vector<NodeId>& passed) {
        nodes.insert(nodes.end(), passed.begin(), passed.end());
    };
    add(walkUp(module, view, heads));
    const NodeRecord& node = module.node(view.source.node);
    if (!isOp(node, qnnDequantizeOp) || !convertsByOneScale(module, node)) return view;
    AttentionView below = view;
    below.source = node.operands[0];
    below.conversion = &node;
    const std::vector<NodeId> passed = walkUp(module, below, heads);
    if (passed.empty()) return view;
    nodes.push_back(node.id);
    add(passed);
    return below;
}

std::vector<NodeId> withoutReaders(const UseIndex& uses, const std::vector<NodeId>& nodes,
                                   NodeId last)
{
    std::vector<NodeId> gone;
    for (const NodeId id : nodes)
        if (std::find(gone.begin(), gone.end(), id) == gone.end()) gone.push_back(id);
    const auto isGone = [&](NodeId id) {
        return std::find(gone.begin(), gone.end(), id) != gone.end();
    };
    for (bool isDone = false; !isDone;) {
        const auto stays = std::find_if(gone.begin(), gone.end(), [&](NodeId id) {
            const std::span<const NodeId> users = uses.users(id);
            return id != last &&
                   (uses.isResult(id) || !std::all_of(users.begin(), users.end(), isGone));
        });
        isDone = stays == gone.end();
        if (!isDone) gone.erase(stays);
    }
    return gone;
}

} // namespace tenon::compiler
