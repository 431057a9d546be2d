// SPDX-License-Identifier: Apache-2.0
// Hierarchical layout: groups from the inside out, then everything to absolute coordinates.
#include "core/layout/layout.h"

#include "core/base/check.h"
#include "core/layout/level.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tenon::core {

namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr float kStubLength = 18;
constexpr float kStubInset = 14;
constexpr float kStubPitch = 22;
constexpr float kPortWidth = 10;
constexpr float kSmallestGroupWidth = 120;

/// An item of a scope's level; for a group `port` names an item of the group's own level.
struct End
{
    uint32_t item = kNone;
    uint32_t group = kNone;
    uint32_t port = kNone;
};

struct EdgeKey
{
    std::array<uint32_t, 5> words;
    friend bool operator==(const EdgeKey&, const EdgeKey&) = default;
};

struct EdgeKeyHash
{
    size_t operator()(const EdgeKey& key) const
    {
        uint64_t hash = 0x9e3779b97f4a7c15ull;
        for (const uint32_t word : key.words) {
            hash = (hash ^ word) * 0xff51afd7ed558ccdull;
            hash ^= hash >> 32;
        }
        return hash;
    }
};

/// One group, or the top level, while it is being laid out.
struct Scope
{
    Level level;
    std::vector<End> fromEnd, toEnd; ///< parallel to level.edges
    std::unordered_map<EdgeKey, uint32_t, EdgeKeyHash> edgeOf;
    std::unordered_map<uint64_t, uint32_t> portOf; ///< (source, direction) -> item
    std::vector<uint32_t> openGroups;              ///< children with a level of their own
    LevelLayout layout;
    float contentX = 0; ///< of the level's origin, from the frame's left top
    float contentY = 0;
    float width = 0;
    float height = 0;
    LayoutPoint origin; ///< absolute position of the level's origin
};

/// A visible thing at the end of an edge: a node, or the collapsed group it is in.
struct Visible
{
    uint32_t scope = kNone;
    uint32_t item = kNone;
};

/// One stretch of an edge's way: an edge of a scope's level.
struct Piece
{
    uint32_t scope;
    uint32_t levelEdge;
};

class Hierarchy
{
public:
    Hierarchy(const LayoutGraph& graph, const LayoutOptions& options, const StopPredicate& stop)
        : m_graph(graph)
        , m_options(options)
        , m_stop(stop)
        , m_top(static_cast<uint32_t>(graph.groups.size()))
        , m_scopes(graph.groups.size() + 1)
        , m_groupItem(graph.groups.size())
        , m_depth(graph.groups.size() + 1)
    {
    }

    std::optional<GraphLayout> run()
    {
        placeNodesInScopes();
        markStubs();
        connect();
        for (uint32_t group = m_top; group-- > 0;)
            if (!m_scopes[group].level.items.empty() && !layoutScope(group)) return std::nullopt;
        if (!layoutScope(m_top)) return std::nullopt;
        return assemble();
    }

private:
    void placeNodesInScopes();
    Visible groupItem(uint32_t group);
    uint32_t collapsedAncestor(int32_t group) const;
    uint32_t parentScope(uint32_t group) const
    {
        const int32_t parent = m_graph.groups[group].parent;
        return parent < 0 ? m_top : static_cast<uint32_t>(parent);
    }

    void markStubs();
    void connect();
    End leaveScope(uint32_t scope, End inside, uint64_t key, RankPin side, std::vector<Piece>& way);
    uint32_t addEdge(uint32_t scope, End from, End to, bool isStub);

    bool layoutScope(uint32_t scope);
    GraphLayout assemble();
    void placeFrames(GraphLayout& out);
    void addRail(uint32_t edge, GraphLayout& out) const;

    const LayoutGraph& m_graph;
    const LayoutOptions& m_options;
    const StopPredicate& m_stop;
    uint32_t m_top;
    std::vector<Scope> m_scopes;
    std::vector<Visible> m_groupItem;
    std::vector<uint32_t> m_depth;
    std::vector<Visible> m_nodeItem;
    std::vector<bool> m_isStub;
    std::vector<Piece> m_pieces;
    std::vector<uint32_t> m_pieceFirst;
};

/// The outermost collapsed group around a node of `group`, or kNone.
uint32_t Hierarchy::collapsedAncestor(int32_t group) const
{
    uint32_t found = kNone;
    for (; group >= 0; group = m_graph.groups[static_cast<size_t>(group)].parent)
        if (m_graph.groups[static_cast<size_t>(group)].isCollapsed)
            found = static_cast<uint32_t>(group);
    return found;
}

/// The group as an item of its parent's level, made where its first member comes.
Visible Hierarchy::groupItem(uint32_t group)
{
    if (m_groupItem[group].item != kNone) return m_groupItem[group];
    const uint32_t scope = parentScope(group);
    CHECK(scope == m_top || scope < group) << "a group's parent must come before it";
    if (scope != m_top) groupItem(scope);
    m_depth[group] = scope == m_top ? 1 : m_depth[scope] + 1;
    Level& level = m_scopes[scope].level;
    m_groupItem[group] = {scope, static_cast<uint32_t>(level.items.size())};
    const LayoutGroup& source = m_graph.groups[group];
    level.items.push_back({source.collapsedWidth, source.collapsedHeight});
    if (!source.isCollapsed) m_scopes[scope].openGroups.push_back(group);
    return m_groupItem[group];
}

void Hierarchy::placeNodesInScopes()
{
    m_nodeItem.resize(m_graph.nodes.size());
    for (uint32_t node = 0; node < m_graph.nodes.size(); ++node) {
        const LayoutNode& source = m_graph.nodes[node];
        const uint32_t collapsed = collapsedAncestor(source.group);
        if (collapsed != kNone) {
            m_nodeItem[node] = groupItem(collapsed);
            continue;
        }
        if (source.group >= 0) groupItem(static_cast<uint32_t>(source.group));
        const uint32_t scope = source.group < 0 ? m_top : static_cast<uint32_t>(source.group);
        Level& level = m_scopes[scope].level;
        m_nodeItem[node] = {scope, static_cast<uint32_t>(level.items.size())};
        level.items.push_back({source.width, source.height});
    }
}

/// Long edges of a widely read node would be parallel lines through everything (an attention mask,
/// shape constants); they are drawn as stubs at their readers.
void Hierarchy::markStubs()
{
    Level flat;
    flat.items.resize(m_graph.nodes.size());
    std::vector<uint32_t> readers(m_graph.nodes.size());
    flat.edges.reserve(m_graph.edges.size());
    for (const LayoutEdge& edge : m_graph.edges) {
        CHECK(edge.from < flat.items.size() && edge.to < flat.items.size());
        flat.edges.push_back({edge.from, edge.to});
        ++readers[edge.from];
    }
    m_isStub.assign(m_graph.edges.size(), false);
    if (std::all_of(readers.begin(), readers.end(),
                    [&](uint32_t count) { return count < m_options.stubFanOut; }))
        return;
    const std::vector<uint32_t> rank = rankItems(flat).rank;
    for (size_t e = 0; e < m_graph.edges.size(); ++e) {
        const LayoutEdge& edge = m_graph.edges[e];
        m_isStub[e] = readers[edge.from] >= m_options.stubFanOut &&
                      rank[edge.to] > rank[edge.from] + m_options.stubSpan;
    }
}

uint32_t Hierarchy::addEdge(uint32_t scope, End from, End to, bool isStub)
{
    Scope& s = m_scopes[scope];
    const EdgeKey key{{from.item, from.port, to.item, to.port, isStub ? 1u : 0u}};
    const auto [it, isNew] = s.edgeOf.try_emplace(key, static_cast<uint32_t>(s.level.edges.size()));
    if (isNew) {
        s.level.edges.push_back({from.item, to.item, 0, 0, isStub});
        s.fromEnd.push_back(from);
        s.toEnd.push_back(to);
    }
    return it->second;
}

/// Joins `inside` to a port on the frame of `scope` and returns that port as an end in the parent.
/// All edges of one source share the port on each side.
End Hierarchy::leaveScope(uint32_t scope, End inside, uint64_t key, RankPin side,
                          std::vector<Piece>& way)
{
    Scope& s = m_scopes[scope];
    const auto [it, isNew] = s.portOf.try_emplace(key * 2 + (side == RankPin::Top ? 1 : 0),
                                                  static_cast<uint32_t>(s.level.items.size()));
    if (isNew) s.level.items.push_back({kPortWidth, 0, side});
    const End port{it->second, kNone, kNone};
    const uint32_t edge = side == RankPin::Top ? addEdge(scope, port, inside, false)
                                               : addEdge(scope, inside, port, false);
    way.push_back({scope, edge});
    return {m_groupItem[scope].item, scope, it->second};
}

void Hierarchy::connect()
{
    m_pieceFirst.reserve(m_graph.edges.size() + 1);
    m_pieces.reserve(m_graph.edges.size());
    for (Scope& scope : m_scopes) scope.edgeOf.reserve(scope.level.items.size() * 2);
    std::vector<Piece> targetWay;
    for (size_t e = 0; e < m_graph.edges.size(); ++e) {
        m_pieceFirst.push_back(static_cast<uint32_t>(m_pieces.size()));
        const Visible source = m_nodeItem[m_graph.edges[e].from];
        const Visible target = m_nodeItem[m_graph.edges[e].to];
        if (source.scope == target.scope && source.item == target.item) continue;
        const uint64_t key = (uint64_t{source.scope} << 32) | source.item;
        End from{source.item}, to{target.item};
        uint32_t fromScope = source.scope, toScope = target.scope;
        const auto depth = [&](uint32_t scope) { return scope == m_top ? 0 : m_depth[scope]; };
        targetWay.clear();
        while (fromScope != toScope) {
            const bool leaveSource = depth(fromScope) >= depth(toScope);
            uint32_t& scope = leaveSource ? fromScope : toScope;
            End& end = leaveSource ? from : to;
            if (m_isStub[e])
                end = {m_groupItem[scope].item};
            else
                end = leaveScope(scope, end, key, leaveSource ? RankPin::Bottom : RankPin::Top,
                                 leaveSource ? m_pieces : targetWay);
            scope = m_groupItem[scope].scope;
        }
        m_pieces.push_back({fromScope, addEdge(fromScope, from, to, m_isStub[e])});
        m_pieces.insert(m_pieces.end(), targetWay.rbegin(), targetWay.rend());
    }
    m_pieceFirst.push_back(static_cast<uint32_t>(m_pieces.size()));
}

/// Lays out one scope whose open groups are done, and takes on its frame's size.
bool Hierarchy::layoutScope(uint32_t scope)
{
    Scope& s = m_scopes[scope];
    for (const uint32_t group : s.openGroups) {
        LevelItem& item = s.level.items[m_groupItem[group].item];
        item.width = m_scopes[group].width;
        item.height = m_scopes[group].height;
    }
    const auto portOffset = [&](const End& end) {
        if (end.group == kNone) return 0.0f;
        const Scope& group = m_scopes[end.group];
        return group.contentX + group.layout.x[end.port] - group.width / 2;
    };
    for (size_t e = 0; e < s.level.edges.size(); ++e) {
        s.level.edges[e].fromOffset = portOffset(s.fromEnd[e]);
        s.level.edges[e].toOffset = portOffset(s.toEnd[e]);
    }
    LayoutOptions options = m_options;
    if (scope != m_top && m_graph.groups[scope].rankGap > 0) {
        options.rankGap = m_graph.groups[scope].rankGap;
        options.wrapAspect = 0; // rows that stand close belong together
    }
    std::optional<LevelLayout> layout = layoutLevel(s.level, options, m_stop);
    if (!layout) return false;
    s.layout = std::move(*layout);
    const float padding = m_options.groupPadding;
    s.width = std::max(s.layout.width + 2 * padding, kSmallestGroupWidth);
    s.contentX = (s.width - s.layout.width) / 2;
    const auto hasPort = [&](RankPin pin) {
        return std::any_of(s.level.items.begin(), s.level.items.end(),
                           [&](const LevelItem& item) { return item.pin == pin; });
    };
    s.contentY = hasPort(RankPin::Top) ? 0 : m_options.groupTitle;
    s.height = s.contentY + s.layout.height + (hasPort(RankPin::Bottom) ? 0 : padding);
    return true;
}

void Hierarchy::placeFrames(GraphLayout& out)
{
    out.groups.resize(m_graph.groups.size());
    for (uint32_t group = 0; group < m_graph.groups.size(); ++group) {
        const Visible place = m_groupItem[group];
        if (place.item == kNone) continue;
        const Scope& parent = m_scopes[place.scope];
        const LevelItem& item = parent.level.items[place.item];
        out.groups[group] = {parent.origin.x + parent.layout.x[place.item] - item.width / 2,
                             parent.origin.y + parent.layout.y[place.item], item.width,
                             item.height};
        Scope& s = m_scopes[group];
        s.origin = {out.groups[group].x + s.contentX, out.groups[group].y + s.contentY};
    }
}

void Hierarchy::addRail(uint32_t edge, GraphLayout& out) const
{
    EdgePath& path = out.edges[edge];
    path.first = static_cast<uint32_t>(out.points.size());
    path.shape = EdgeShape::Rail;
    for (uint32_t p = m_pieceFirst[edge]; p < m_pieceFirst[edge + 1]; ++p) {
        const Scope& s = m_scopes[m_pieces[p].scope];
        const uint32_t first = s.layout.pathFirst[m_pieces[p].levelEdge];
        const uint32_t count = s.layout.pathCount[m_pieces[p].levelEdge];
        if (count == 0) {
            out.points.resize(path.first);
            path.shape = EdgeShape::Stub;
            return;
        }
        for (uint32_t i = first; i < first + count; ++i)
            out.points.push_back(
                {s.origin.x + s.layout.points[i].x, s.origin.y + s.layout.points[i].y});
    }
    path.count = static_cast<uint32_t>(out.points.size()) - path.first;
}

GraphLayout Hierarchy::assemble()
{
    GraphLayout out;
    placeFrames(out);
    out.nodes.resize(m_graph.nodes.size());
    for (uint32_t node = 0; node < out.nodes.size(); ++node) {
        const Visible place = m_nodeItem[node];
        const Scope& s = m_scopes[place.scope];
        const LevelItem& item = s.level.items[place.item];
        out.nodes[node] = {s.origin.x + s.layout.x[place.item] - item.width / 2,
                           s.origin.y + s.layout.y[place.item], item.width, item.height};
    }
    out.edges.resize(m_graph.edges.size());
    out.points.reserve(m_graph.edges.size() * 4);
    std::vector<uint32_t> stubsAt(m_graph.nodes.size());
    for (uint32_t edge = 0; edge < out.edges.size(); ++edge) {
        if (m_pieceFirst[edge] == m_pieceFirst[edge + 1]) continue;
        addRail(edge, out);
        if (out.edges[edge].shape != EdgeShape::Stub) continue;
        const LayoutRect& target = out.nodes[m_graph.edges[edge].to];
        const float inset =
            kStubInset + kStubPitch * static_cast<float>(stubsAt[m_graph.edges[edge].to]++);
        const float x = std::min(target.x + inset, target.right());
        out.edges[edge] = {static_cast<uint32_t>(out.points.size()), 2, EdgeShape::Stub};
        out.points.push_back({x, target.y - kStubLength});
        out.points.push_back({x, target.y});
    }
    const Scope& top = m_scopes[m_top];
    out.bounds = {0, 0, top.layout.width, top.layout.height};
    return out;
}

} // namespace

std::optional<GraphLayout> layoutGraph(const LayoutGraph& graph, const LayoutOptions& options,
                                       const std::function<bool()>& shouldStop)
{
    return Hierarchy(graph, options, shouldStop).run();
}

} // namespace tenon::core
