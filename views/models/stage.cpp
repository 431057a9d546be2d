// SPDX-License-Identifier: GPL-3.0-or-later
// From a storyboard to layout input: which places are cards, frames and scopes.
#include "views/models/stage.h"

#include <algorithm>

namespace tenon::views {

namespace {

constexpr float kRowGap = 10;

uint64_t jointKey(PlaceId from, PlaceId to)
{
    return (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32) | static_cast<uint32_t>(to);
}

} // namespace

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

/// Runs of cards with the same scope in program order; a run is always free of ways out and in
/// again, so its frame never makes a cycle. Scopes around a single card are left out.
void Stage::findScopes(size_t version)
{
    struct Run
    {
        NameScope scope;
        std::vector<PlaceId> cards;
        int kept = -1;
    };
    const VersionView view = m_board->version(version);
    const auto& sources = view.module->sources();
    std::vector<Run> runs;
    std::vector<int> open;
    for (const PlaceId place : m_board->sequence()) {
        const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
        if (!node || node->kind == core::NodeKind::Parameter) continue;
        if (m_board->places()[static_cast<size_t>(place)].output >= 0) continue;
        std::vector<std::string> path;
        if (!node->origin.empty() && node->origin.front().value < sources.size())
            path = sources[node->origin.front().value].scope;
        size_t common = 0;
        while (common < open.size() && common < path.size() &&
               runs[static_cast<size_t>(open[common])].scope.name.toStdString() == path[common])
            ++common;
        open.resize(common);
        while (open.size() < path.size()) {
            const int parent = open.empty() ? -1 : open.back();
            const QString name = QString::fromStdString(path[open.size()]);
            const QString prefix =
                parent < 0 ? QString() : runs[static_cast<size_t>(parent)].scope.path;
            QString scopePath = prefix + QLatin1Char('/') + name;
            if (!open.empty() || !runs.empty())
                scopePath += QLatin1Char('#') + QString::number(place);
            open.push_back(static_cast<int>(runs.size()));
            runs.push_back({{scopePath, name, parent, 0}, {}, -1});
        }
        for (const int run : open) runs[static_cast<size_t>(run)].cards.push_back(place);
    }
    for (Run& run : runs) {
        int parent = run.scope.parent;
        while (parent >= 0 && runs[static_cast<size_t>(parent)].kept < 0)
            parent = runs[static_cast<size_t>(parent)].scope.parent;
        const bool isSame =
            parent >= 0 && runs[static_cast<size_t>(parent)].cards.size() == run.cards.size();
        if (run.cards.size() < 2 || isSame) continue;
        run.kept = static_cast<int>(m_scopes.size());
        run.scope.parent = parent < 0 ? -1 : runs[static_cast<size_t>(parent)].kept;
        run.scope.cardCount = static_cast<int>(run.cards.size());
        m_scopes.push_back(run.scope);
        core::LayoutGroup group;
        group.parent = run.scope.parent;
        group.isCollapsed = m_collapsed.count(run.scope.path) > 0;
        group.collapsedWidth = kCardWidth;
        group.collapsedHeight = kCardHeight;
        m_graph.groups.push_back(group);
        for (const PlaceId card : run.cards) {
            m_scopeOfPlace[static_cast<size_t>(card)] = run.kept;
            m_graph.nodes[static_cast<size_t>(m_nodeOfPlace[static_cast<size_t>(card)])].group =
                run.kept;
        }
    }
}

bool Stage::arrange(const std::function<bool()>& shouldStop)
{
    auto layout = core::layoutGraph(m_graph, {}, shouldStop);
    if (!layout) return false;
    m_layout = std::move(*layout);
    placeSideCards();
    return true;
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
