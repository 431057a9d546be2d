// SPDX-License-Identifier: Apache-2.0
// Groups by post-dominance: walking in order, a node joins the node that all its paths lead to,
// together with everything between them, when categories and shapes allow it.
#include "compiler/passes/fuse/fusion_groups.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/control.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tenon::compiler {
namespace {

constexpr int kNone = -1;
/// Bytes; what kernels assume of their parameters.
constexpr int64_t kPartAlignment = 64;

/// Operators with several results stand alone, too.
bool standsAlone(const NodeRecord& node)
{
    return factsOf(node).standsAlone || node.resultCount() != 1 || !node.bodies.empty();
}

class Grouping
{
public:
    Grouping(const Module& module, const GraphFunction& function, int64_t maxMembers)
        : m_module(module)
        , m_maxMembers(maxMembers)
    {
        const UseIndex uses(module, function);
        for (const NodeId id : function.order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Op || isControl(node)) continue;
            const OpDef* op = findOp(node.op);
            m_index[id] = static_cast<int>(m_nodes.size());
            Member member{&node, op ? op->pattern : Pattern::Opaque};
            if (standsAlone(node)) member.pattern = Pattern::Opaque;
            m_nodes.push_back(std::move(member));
        }
        for (Member& member : m_nodes) {
            member.isExit = uses.isResult(member.node->id);
            for (const NodeId user : uses.users(member.node->id)) {
                const auto found = m_index.find(user);
                if (found == m_index.end())
                    member.isExit = true;
                else
                    member.users.push_back(found->second);
            }
        }
        findPostDominators();
        m_parent.resize(m_nodes.size());
        std::iota(m_parent.begin(), m_parent.end(), 0);
        m_size.assign(m_nodes.size(), 1);
        m_anchor.assign(m_nodes.size(), kNone);
        m_walkOf.assign(m_nodes.size(), 0);
        for (size_t i = 0; i < m_nodes.size(); ++i)
            if (isAnchor(m_nodes[i].pattern)) m_anchor[i] = static_cast<int>(i);
    }

    std::vector<FusionGroup> run()
    {
        for (const bool withInjective : {false, true})
            for (size_t i = 0; i < m_nodes.size(); ++i) tryJoin(static_cast<int>(i), withInjective);
        std::vector<FusionGroup> groups;
        std::unordered_map<int, size_t> byRoot;
        for (size_t i = 0; i < m_nodes.size(); ++i) {
            const int root = rootOf(static_cast<int>(i));
            const auto [found, isNew] = byRoot.emplace(root, groups.size());
            if (isNew) groups.emplace_back();
            FusionGroup& group = groups[found->second];
            group.members.push_back(m_nodes[i].node->id);
            const int anchor = m_anchor[static_cast<size_t>(root)];
            if (anchor != kNone) group.anchor = at(anchor).node->id;
        }
        return groups;
    }

private:
    struct Member
    {
        const NodeRecord* node;
        Pattern pattern;
        bool isExit = false; ///< read by what is no operator, or a result
        std::vector<int> users;
        int exit = kNone; ///< immediate post-dominator
        int depth = 0;    ///< in the post-dominator tree
    };

    static bool isAnchor(Pattern pattern)
    {
        return pattern == Pattern::OutEwiseFusable || pattern == Pattern::Reduction;
    }

    const Member& at(int i) const { return m_nodes[static_cast<size_t>(i)]; }

    /// Users come later in the order, so one walk backwards settles every node.
    void findPostDominators()
    {
        for (size_t i = m_nodes.size(); i-- > 0;) {
            Member& member = m_nodes[i];
            if (member.isExit || member.users.empty()) continue;
            int common = member.users[0];
            for (const int user : member.users) common = commonExit(common, user);
            member.exit = common;
            member.depth = common == kNone ? 0 : at(common).depth + 1;
        }
    }

    int commonExit(int a, int b) const
    {
        while (a != b) {
            if (a == kNone || b == kNone) return kNone;
            if (at(a).depth >= at(b).depth)
                a = at(a).exit;
            else
                b = at(b).exit;
        }
        return a;
    }

    int rootOf(int i)
    {
        int& parent = m_parent[static_cast<size_t>(i)];
        if (parent != i) parent = rootOf(parent);
        return parent;
    }

    bool hasAnchor(int i) { return m_anchor[static_cast<size_t>(rootOf(i))] != kNone; }

    const Shape& shapeOf(int i) const { return at(i).node->types.at(0).shape; }

    /// True when `to` is known to have more elements than `from`, or sizes cannot be compared.
    bool grows(int from, int to) const
    {
        const auto a = constantShape(shapeOf(from));
        const auto b = constantShape(shapeOf(to));
        if (a && b) return elementCount(*b) > elementCount(*a);
        return shapeOf(from) != shapeOf(to);
    }

    /// Nodes on all paths from `source` (without it) to `sink` (with it); none when there are more
    /// than a group may have.
    std::vector<int> between(int source, int sink)
    {
        ++m_walk;
        std::vector<int> path;
        std::vector<int> pending = at(source).users;
        while (!pending.empty()) {
            const int next = pending.back();
            pending.pop_back();
            if (std::exchange(m_walkOf[static_cast<size_t>(next)], m_walk) == m_walk) continue;
            path.push_back(next);
            if (static_cast<int64_t>(path.size()) >= m_maxMembers) return {};
            if (next != sink)
                pending.insert(pending.end(), at(next).users.begin(), at(next).users.end());
        }
        return path;
    }

    void tryJoin(int i, bool withInjective)
    {
        const Member& member = at(i);
        const int sink = member.exit;
        if (sink == kNone || rootOf(i) == rootOf(sink)) return;
        if (member.pattern == Pattern::Opaque && !(withInjective && isCutFor(i, sink))) return;
        const std::vector<int> path = between(i, sink);
        if (path.empty() || (path.size() == 1 && isTakenLater(i, sink))) return;
        const bool fits = hasAnchor(i)                           ? followsAnchor(i, path)
                          : member.pattern == Pattern::Opaque    ? path.size() == 1
                          : member.pattern <= Pattern::Broadcast ? entersGroup(i, sink, path)
                          : member.pattern == Pattern::Injective && withInjective
                              ? isInjectiveChain(i, path)
                              : false;
        if (fits) join(i, path);
    }

    /// Behind an anchor: elementwise only, on the anchor's own shape, in groups without anchor.
    bool followsAnchor(int i, const std::vector<int>& path)
    {
        return std::all_of(path.begin(), path.end(), [&](int next) {
            return at(next).pattern <= Pattern::Broadcast && shapeOf(next) == shapeOf(i) &&
                   !isWidenedForReader(next) && (rootOf(next) == rootOf(i) || !hasAnchor(next));
        });
    }

    /// An anchor's result, or what is elementwise behind one, such as its sum with a bias.
    bool isOfAnchor(int i) const
    {
        while (at(i).pattern <= Pattern::Broadcast) {
            const int before = i;
            for (const ValueRef operand : at(before).node->operands) {
                const auto found = m_index.find(operand.node);
                if (found == m_index.end()) continue;
                if (i != before) return false; // of two values
                i = found->second;
            }
            if (i == before || at(i).exit != before || shapeOf(i) != shapeOf(before)) return false;
        }
        return isAnchor(at(i).pattern);
    }

    /// Patches for windows that stay in their channel: they are cut where padding is written, for a
    /// few channels at a time.
    bool isCutFor(int i, int sink) const
    {
        constexpr size_t kBlockedRank = 5;
        const NodeRecord& window = *at(sink).node;
        return isOp(*at(i).node, cutPatchesOp) &&
               isOneOf(window, depthwiseConv2dNchwcOp, maxPool2dOp) &&
               window.operands[0] == ValueRef{at(i).node->id, 0} &&
               shapeOf(i).size() == kBlockedRank;
    }

    /// In a chain of sums, as of the layers that skip to the end of a WaveNet: the next part is
    /// computed later and adds to the sum so far, where otherwise the first part's kernel would run
    /// last and all others wait for it in memory.
    bool isTakenLater(int i, int next)
    {
        const auto isSum = [&](int sum) {
            const std::vector<ValueRef>& parts = at(sum).node->operands;
            return isOp(*at(sum).node, addOp) &&
                   std::all_of(parts.begin(), parts.end(),
                               [&](ValueRef part) { return m_index.contains(part.node); });
        };
        if (!hasAnchor(i) || !isSum(i) || !isSum(next)) return false;
        const std::vector<ValueRef>& parts = at(next).node->operands;
        return std::any_of(parts.begin(), parts.end(), [&](ValueRef part) {
            const int other = m_index.at(part.node);
            return other > i && at(other).exit == next && shapeOf(other) == shapeOf(next) &&
                   isOfAnchor(other);
        });
    }

    /// Those that combine many elements into one, and so may widen what they read.
    bool isReductionOrPool(int i) const
    {
        return at(i).pattern == Pattern::Reduction ||
               factsOf(*at(i).node).family == Family::Pooling;
    }

    /// A cast to larger elements that only a reduction or a pool reads: it widens them itself,
    /// reads less, and memory holds the small ones.
    bool isWidenedForReader(int i) const
    {
        const NodeRecord& node = *at(i).node;
        return isOp(node, castOp) && at(i).users.size() == 1 && !at(i).isExit &&
               isReductionOrPool(at(i).users[0]) &&
               node.types[0].dtype.bytes() > m_module.type(node.operands[0]).dtype.bytes();
    }

    /// An elementwise node before others: computed where it is read, once per element.
    bool entersGroup(int i, int sink, const std::vector<int>& path)
    {
        const Pattern last = at(sink).pattern;
        if (last == Pattern::Reduction || isWidenedForReader(i))
            return path.size() == 1 && !isConcatenation(sink);
        const bool movesFirst = joinsPhases(*at(i).node);
        for (const int next : path) {
            const Pattern pattern = at(next).pattern;
            if (pattern > Pattern::Injective || isConcatenation(next) || grows(i, next))
                return false;
            if (movesFirst && isOp(*at(next).node, layoutTransformOp)) return false;
            // A group with an anchor takes elementwise operands of its own shape only.
            if (hasAnchor(next) && (pattern > Pattern::Broadcast || shapeOf(next) != shapeOf(i)))
                return false;
        }
        return true;
    }

    bool isInjectiveChain(int i, const std::vector<int>& path)
    {
        if (isPlaceable(i)) return false;
        const bool movesQuads = movesQuadsToPlanes(*at(i).node);
        const bool movesFirst = addsChannels(*at(i).node) || joinsPhases(*at(i).node);
        return std::all_of(path.begin(), path.end(), [&](int next) {
            return !(movesQuads && isOp(*at(next).node, qnnDequantizeOp)) &&
                   !(movesFirst && isOp(*at(next).node, layoutTransformOp)) &&
                   at(next).pattern <= Pattern::Injective && !isConcatenation(next) &&
                   !hasAnchor(next) && !grows(i, next);
        });
    }

    /// Planes that are copied, and empty ones: blocks made of both would ask for each element which
    /// it is of, where whole planes become blocks in registers.
    static bool addsChannels(const NodeRecord& node)
    {
        const std::vector<int64_t> width = node.attrs.integers("pad_width", {});
        return isOp(node, padOp) && width.size() == 8 && (width[2] != 0 || width[3] != 0);
    }

    /// Neighbours in a row of planes would come from a phase each, one by one; joined first, the
    /// blocks move as they are and become planes in registers (HiFi-GAN's bytes on Zen 3, 32
    /// channels at 8192 columns from 12 phases: 330 us in one step; WaveNet's floats, 128 channels
    /// at 8000 columns from 2 phases: 900 us in one step, 380 in two).
    /// So do they where something is computed of them in between.
    bool joinsPhases(const NodeRecord& node) const
    {
        const NodeRecord* at = &node;
        while (at->kind == NodeKind::Op && !at->operands.empty() &&
               factsOf(*at).pattern <= Pattern::Broadcast)
            at = &m_module.node(at->operands[0].node);
        return at->kind == NodeKind::Op && isOp(*at, unstackPhasesOp);
    }

    /// Bytes in blocks of four channels become planes four vectors at a time, where nothing is
    /// computed with them; a slice of the planes, too. As floats they would move one by one.
    bool movesQuadsToPlanes(const NodeRecord& node) const
    {
        if (node.operands.empty()) return false;
        const NodeRecord& before = m_module.node(node.operands[0].node);
        if (isOp(node, stridedSliceOp) && before.kind == NodeKind::Op)
            return isOp(before, layoutTransformOp) && movesQuadsToPlanes(before);
        return isOp(node, layoutTransformOp) &&
               m_module.type(node.operands[0]).dtype.bytes() == 1 &&
               node.attrs.string("src_layout", "") == "NCHW4c" &&
               node.attrs.string("dst_layout", "") == "NCHW";
    }

    bool isConcatenation(int i) const { return isOp(*at(i).node, concatenateOp); }

    /// Every part is computed and begins where a kernel may write: the join then costs nothing.
    bool isPlaceable(int i) const
    {
        const NodeRecord& node = *at(i).node;
        if (!joinsWholeTensors(node)) return false;
        return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef part) {
            const auto shape = constantShape(m_module.type(part).shape);
            const int64_t bytes =
                shape ? elementCount(*shape) * m_module.type(part).dtype.bytes() : 1;
            return m_module.node(part.node).kind == NodeKind::Op && bytes % kPartAlignment == 0;
        });
    }

    void join(int i, const std::vector<int>& path)
    {
        std::vector<int> roots{rootOf(i)};
        int64_t size = m_size[static_cast<size_t>(roots[0])];
        int anchor = m_anchor[static_cast<size_t>(roots[0])];
        for (const int next : path) {
            const int root = rootOf(next);
            if (std::find(roots.begin(), roots.end(), root) != roots.end()) continue;
            roots.push_back(root);
            size += m_size[static_cast<size_t>(root)];
            const int other = m_anchor[static_cast<size_t>(root)];
            if (anchor != kNone && other != kNone) return;
            if (other != kNone) anchor = other;
        }
        if (size > m_maxMembers) return;
        for (const int root : roots) m_parent[static_cast<size_t>(root)] = roots[0];
        m_size[static_cast<size_t>(roots[0])] = size;
        m_anchor[static_cast<size_t>(roots[0])] = anchor;
    }

    const Module& m_module;
    int64_t m_maxMembers;
    std::vector<Member> m_nodes;
    std::unordered_map<NodeId, int> m_index; ///< of a node among them
    std::vector<int> m_parent;               ///< union-find
    std::vector<int64_t> m_size;
    std::vector<int> m_anchor; ///< of the group, by root
    std::vector<int> m_walkOf; ///< the last walk that came by
    int m_walk = 0;
};

} // namespace

bool joinsWholeTensors(const NodeRecord& node)
{
    const auto axis = joinedAxis(node);
    if (!axis) return false;
    const auto shape = constantShape(node.types[0].shape);
    return std::all_of(shape->begin(), shape->begin() + static_cast<std::ptrdiff_t>(*axis),
                       [](int64_t d) { return d == 1; });
}

std::optional<size_t> joinedAxis(const NodeRecord& node)
{
    if (!isOp(node, concatenateOp) || node.types.size() != 1) return std::nullopt;
    const auto shape = constantShape(node.types[0].shape);
    if (!shape) return std::nullopt;
    int64_t axis = node.attrs.integer("axis", 0);
    if (axis < 0) axis += static_cast<int64_t>(shape->size());
    return static_cast<size_t>(axis);
}

std::vector<FusionGroup> fusionGroups(const Module& module, const GraphFunction& function,
                                      int64_t maxMembers)
{
    return Grouping(module, function, maxMembers).run();
}

} // namespace tenon::compiler
