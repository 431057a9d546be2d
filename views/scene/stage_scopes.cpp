// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of the Inspect page: the model's name scopes, control flow and its nested functions.
#include "views/scene/stage.h"

#include <algorithm>

namespace tenon::views {

/// One level of a card's place in the hierarchy; cards in a row with equal keys share the group.
struct Stage::ScopeName
{
    QString key;
    QString name;
    PlaceId owner = kNoPlace;
    bool isBody = false;
};

namespace {

QString functionName(const core::Module& module, const core::NodeRecord& node, int body)
{
    const auto found = module.functions().find(node.bodies[static_cast<size_t>(body)]);
    return found == module.functions().end() ? QStringLiteral("body")
                                             : QString::fromStdString(found->second->name);
}

} // namespace

/// Outermost first. A node with nested functions stands in a group of its own together with them.
std::vector<Stage::ScopeName> Stage::scopeNames(const VersionView& view, PlaceId place) const
{
    std::vector<ScopeName> names;
    const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
    const Storyboard::Place& info = m_board->places()[static_cast<size_t>(place)];
    const auto& sources = view.module->sources();
    if (info.owner != kNoPlace) {
        names = scopeNames(view, info.owner);
        const core::NodePtr& owner = view.occupants[static_cast<size_t>(info.owner)].node;
        if (owner)
            names.push_back({QStringLiteral("%1.%2").arg(info.owner).arg(info.body),
                             functionName(*view.module, *owner, info.body), kNoPlace, true});
    } else if (node && !node->origin.empty() && node->origin.front().value < sources.size()) {
        for (const std::string& name : sources[node->origin.front().value].scope) {
            const QString text = QString::fromStdString(name);
            names.push_back({text, text});
        }
    }
    if (node && !node->bodies.empty() && m_board->showsBodies()) {
        const QString name =
            node->name.empty() ? titleOf(*view.module, *node) : QString::fromStdString(node->name);
        names.push_back({QStringLiteral("%1").arg(place), name, place, true});
    }
    return names;
}

/// Runs of cards with the same scope in program order; a run is always free of ways out and in
/// again, so its frame never makes a cycle. Scopes around a single card are left out.
void Stage::findScopes(size_t version)
{
    struct Run
    {
        NameScope scope;
        QString key;
        std::vector<PlaceId> cards;
        int kept = -1;
    };
    const VersionView view = m_board->version(version);
    std::vector<Run> runs;
    std::vector<int> open;
    for (const PlaceId place : m_board->sequence()) {
        const Storyboard::Place& info = m_board->places()[static_cast<size_t>(place)];
        const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
        if (!node || (node->kind == core::NodeKind::Parameter && info.owner == kNoPlace)) continue;
        if (info.output >= 0) continue;
        const std::vector<ScopeName> names = scopeNames(view, place);
        size_t common = 0;
        while (common < open.size() && common < names.size() &&
               runs[static_cast<size_t>(open[common])].key == names[common].key)
            ++common;
        open.resize(common);
        while (open.size() < names.size()) {
            const int parent = open.empty() ? -1 : open.back();
            const ScopeName& added = names[open.size()];
            const QString prefix =
                parent < 0 ? QString() : runs[static_cast<size_t>(parent)].scope.path;
            QString path = prefix + QLatin1Char('/') + added.name;
            if (!open.empty() || !runs.empty()) path += QLatin1Char('#') + QString::number(place);
            open.push_back(static_cast<int>(runs.size()));
            runs.push_back(
                {{path, added.name, parent, 0, added.owner, added.isBody}, added.key, {}, -1});
        }
        for (const int run : open) runs[static_cast<size_t>(run)].cards.push_back(place);
    }
    for (Run& run : runs) {
        int parent = run.scope.parent;
        while (parent >= 0 && runs[static_cast<size_t>(parent)].kept < 0)
            parent = runs[static_cast<size_t>(parent)].scope.parent;
        const bool isSame =
            parent >= 0 && runs[static_cast<size_t>(parent)].cards.size() == run.cards.size();
        if (!run.scope.isBody && (run.cards.size() < 2 || isSame)) continue;
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

std::vector<QString> Stage::scopesAround(PlaceId place) const
{
    std::vector<QString> paths;
    if (place < 0 || static_cast<size_t>(place) >= m_scopeOfPlace.size()) return paths;
    for (int s = m_scopeOfPlace[static_cast<size_t>(place)]; s >= 0;
         s = m_scopes[static_cast<size_t>(s)].parent)
        paths.push_back(m_scopes[static_cast<size_t>(s)].path);
    return paths;
}

} // namespace tenon::views
