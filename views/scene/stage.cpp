// SPDX-License-Identifier: GPL-3.0-or-later
// From a storyboard to layout input: which places are cards, frames and scopes.
#include "views/scene/stage.h"

#include <algorithm>

namespace tenon::views {

Stage::Stage(std::shared_ptr<const Storyboard> board, bool hasSideLane)
    : m_board(std::move(board))
{
    m_sideOfPlace.assign(m_board->places().size(), -1);
    if (hasSideLane) findSideCards();
    m_nodeOfPlace.assign(m_board->places().size(), -1);
    m_groupOfPlace.assign(m_board->places().size(), -1);
    m_scopeOfPlace.assign(m_board->places().size(), -1);
    for (const PlaceId place : m_board->sequence()) {
        if (m_sideOfPlace[static_cast<size_t>(place)] >= 0) continue;
        m_nodeOfPlace[static_cast<size_t>(place)] = static_cast<int>(m_graph.nodes.size());
        m_graph.nodes.push_back({kCardWidth, kCardHeight, -1});
    }
    for (size_t joint = 0; joint < m_board->joints().size(); ++joint) {
        const auto [from, to] = m_board->joints()[joint];
        if (m_board->bypasses()[joint]) continue;
        const int a = m_nodeOfPlace[static_cast<size_t>(from)];
        const int b = m_nodeOfPlace[static_cast<size_t>(to)];
        if (a < 0 || b < 0) continue;
        m_edgeOf.emplace(jointKey(from, to), static_cast<uint32_t>(m_graph.edges.size()));
        m_graph.edges.push_back({static_cast<uint32_t>(a), static_cast<uint32_t>(b)});
    }
}

/// Cards that no frame holds, that are gone in the last version, and that read nothing but such
/// cards: what a decomposition computes from constants before it is folded.
void Stage::findSideCards()
{
    const auto& places = m_board->places();
    const VersionView last = m_board->version(m_board->document().versionCount() - 1);
    std::vector<bool> isSide(places.size());
    for (const PlaceId place : m_board->sequence()) {
        const auto p = static_cast<size_t>(place);
        isSide[p] = !last.occupants[p].node && places[p].frame == kNoPlace && places[p].output < 0;
    }
    std::vector<std::vector<PlaceId>> readers(places.size());
    for (const auto& [from, to] : m_board->joints())
        readers[static_cast<size_t>(from)].push_back(to);
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [from, to] : m_board->joints()) {
            if (isSide[static_cast<size_t>(from)] || !isSide[static_cast<size_t>(to)]) continue;
            isSide[static_cast<size_t>(to)] = false;
            changed = true;
        }
    }
    const auto& sequence = m_board->sequence();
    std::vector<SideCard> found(places.size());
    for (size_t i = sequence.size(); i-- > 0;) {
        const auto p = static_cast<size_t>(sequence[i]);
        if (!isSide[p]) continue;
        SideCard& card = found[p];
        card.place = sequence[i];
        for (const PlaceId reader : readers[p]) {
            const auto r = static_cast<size_t>(reader);
            const int distance = isSide[r] ? found[r].distance + 1 : 1;
            const PlaceId anchor = isSide[r] ? found[r].anchor : reader;
            if (anchor == kNoPlace || (card.anchor != kNoPlace && distance <= card.distance))
                continue;
            card.anchor = anchor;
            card.distance = distance;
        }
    }
    for (const PlaceId place : sequence) {
        const SideCard& card = found[static_cast<size_t>(place)];
        if (!isSide[static_cast<size_t>(place)] || card.anchor == kNoPlace) continue;
        m_sideOfPlace[static_cast<size_t>(place)] = static_cast<int>(m_sideCards.size());
        m_sideCards.push_back(card);
    }
}

/// Columns by distance left of the program, each card beside its anchor or below the card before.
void Stage::placeSideCards()
{
    constexpr float kLaneGap = 96, kColumnGap = 44, kCardGap = 12;
    std::vector<SideCard*> order;
    for (SideCard& card : m_sideCards) order.push_back(&card);
    std::stable_sort(order.begin(), order.end(), [&](const SideCard* a, const SideCard* b) {
        return rectOf(a->anchor).y < rectOf(b->anchor).y;
    });
    std::vector<float> nextFree;
    float left = m_layout.bounds.x;
    for (SideCard* card : order) {
        const auto column = static_cast<size_t>(card->distance - 1);
        if (nextFree.size() <= column) nextFree.resize(column + 1, -1e9f);
        const float x =
            -kLaneGap - kCardWidth - static_cast<float>(column) * (kCardWidth + kColumnGap);
        const float y = std::max(rectOf(card->anchor).y, nextFree[column]);
        card->rect = {x, y, kCardWidth, kCardHeight};
        nextFree[column] = y + kCardHeight + kCardGap;
        left = std::min(left, x);
        m_layout.bounds.height = std::max(m_layout.bounds.height, y + kCardHeight);
    }
    m_layout.bounds.width += m_layout.bounds.x - left;
    m_layout.bounds.x = left;
}

core::LayoutRect Stage::rectOf(PlaceId place) const
{
    const auto p = static_cast<size_t>(place);
    if (m_sideOfPlace[p] >= 0) return m_sideCards[static_cast<size_t>(m_sideOfPlace[p])].rect;
    return m_nodeOfPlace[p] < 0 ? core::LayoutRect{}
                                : m_layout.nodes[static_cast<size_t>(m_nodeOfPlace[p])];
}

Stage Stage::forPasses(std::shared_ptr<const Storyboard> board)
{
    Stage stage(std::move(board), true);
    const auto& places = stage.m_board->places();
    for (size_t place = 0; place < places.size(); ++place) {
        if (!places[place].isFrame) continue;
        stage.m_groupOfPlace[place] = static_cast<int>(stage.m_graph.groups.size());
        stage.m_graph.groups.push_back({.rankGap = kRowGap});
    }
    for (size_t place = 0; place < places.size(); ++place) {
        const int node = stage.m_nodeOfPlace[place];
        if (node < 0 || places[place].frame == kNoPlace) continue;
        stage.m_graph.nodes[static_cast<size_t>(node)].group =
            stage.m_groupOfPlace[static_cast<size_t>(places[place].frame)];
    }
    return stage;
}

Stage Stage::forScopes(std::shared_ptr<const Storyboard> board, size_t version,
                       std::set<QString> collapsed)
{
    Stage stage(std::move(board), false);
    stage.m_collapsed = std::move(collapsed);
    stage.findScopes(version);
    return stage;
}

bool Stage::arrange(const std::function<bool()>& shouldStop, float wrapAspect)
{
    auto layout = core::layoutGraph(m_graph, {.wrapAspect = wrapAspect}, shouldStop);
    if (!layout) return false;
    m_layout = std::move(*layout);
    placeSideCards();
    return true;
}

std::vector<const core::NodeRecord*> Stage::standing(const VersionView& view) const
{
    std::vector<const core::NodeRecord*> nodes;
    const auto& places = m_board->places();
    for (size_t p = 0; p < places.size(); ++p) {
        const core::NodePtr& node = view.occupants[p].node;
        if (!node || node->kind == core::NodeKind::Parameter || places[p].output >= 0) continue;
        const PlaceId frame = places[p].frame;
        const bool isMember =
            frame != kNoPlace && view.occupants[static_cast<size_t>(frame)].node != nullptr;
        if (!isMember && m_sideOfPlace[p] < 0) nodes.push_back(node.get());
    }
    return nodes;
}

std::vector<std::vector<core::NodeId>> Stage::nodesByScope(const VersionView& view) const
{
    std::vector<std::vector<core::NodeId>> nodes(m_scopes.size());
    for (const PlaceId place : m_board->sequence()) {
        const auto p = static_cast<size_t>(place);
        if (!view.occupants[p].node) continue;
        for (int s = m_scopeOfPlace[p]; s >= 0; s = m_scopes[static_cast<size_t>(s)].parent)
            nodes[static_cast<size_t>(s)].push_back(view.occupants[p].node->id);
    }
    return nodes;
}

std::unordered_set<std::string> faultyNodes(const Document& document)
{
    std::unordered_set<std::string> names;
    for (const core::Diagnostic& issue : document.issues)
        if (issue.severity == core::Severity::Error && !issue.location.node.empty())
            names.insert(issue.location.node);
    return names;
}

bool isSameWork(const core::NodeRecord& a, const core::NodeRecord& b)
{
    return a.id == b.id && a.op == b.op && a.kind == b.kind && a.attrs == b.attrs &&
           a.types == b.types && a.callee == b.callee && a.kernel == b.kernel &&
           a.operands.size() == b.operands.size() && a.kind != core::NodeKind::Constant;
}

size_t inspectVersion(const Document& document)
{
    if (document.passes.empty() || !document.imported.mainId().isValid()) return 0;
    for (const core::NodeId id : document.imported.main().order)
        if (document.imported.node(id).types.empty())
            return document.passes[0].name == QLatin1String("InferType") ? 1 : 0;
    return 0;
}

} // namespace tenon::views
