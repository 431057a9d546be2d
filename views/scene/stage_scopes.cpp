// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of the Inspect page: the model's name scopes, control flow and its nested functions.
#include "core/ir/repeats.h"
#include "views/scene/stage.h"

#include <QObject>

#include <algorithm>

namespace tenon::views {

/// One level of a card's place in the hierarchy; cards in a row with equal keys share the group.
struct Stage::ScopeName
{
    QString key;
    QString name;
    PlaceId owner = kNoPlace;
    bool isBody = false;
    bool isRepeat = false;
};

namespace {

QString functionName(const core::Module& module, const core::NodeRecord& node, int body)
{
    const auto found = module.functions().find(node.bodies[static_cast<size_t>(body)]);
    return found == module.functions().end() ? QStringLiteral("body")
                                             : QString::fromStdString(found->second->name);
}

} // namespace

PlaceId Stage::outermostOwner(PlaceId place) const
{
    while (m_board->places()[static_cast<size_t>(place)].owner != kNoPlace)
        place = m_board->places()[static_cast<size_t>(place)].owner;
    return place;
}

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

/// "block x17" around the blocks that a model without name scopes repeats, and "block 3" around
/// each.
std::unordered_map<PlaceId, std::vector<Stage::ScopeName>>
Stage::repeatedScopes(const VersionView& view) const
{
    std::unordered_map<PlaceId, std::vector<ScopeName>> names;
    const std::vector<core::RepeatedBlock> blocks = core::repeatedBlocks(*view.module);
    if (blocks.empty()) return names;
    std::vector<PlaceId> program;
    for (const core::NodeId id : view.module->main().order) {
        const core::NodeKind kind = view.module->node(id).kind;
        if (kind != core::NodeKind::Constant && kind != core::NodeKind::Parameter)
            program.push_back(m_board->placeOf(id));
    }
    for (const auto& [repeat, kinds] : blocks)
        for (size_t i = repeat.first; i < repeat.end(); ++i) {
            const size_t block = (i - repeat.first) / repeat.length;
            const QString all = QStringLiteral("repeat %1").arg(repeat.first);
            names[program[i]] = {
                {all, QObject::tr("block ×%1").arg(repeat.count), kNoPlace, false, true},
                {QStringLiteral("%1.%2").arg(all).arg(block),
                 QObject::tr("block %1 of %2").arg(block + 1).arg(repeat.count)}};
        }
    return names;
}

/// Of neighbouring cards that share the scope.
struct Stage::Run
{
    NameScope scope;
    QString key;
    std::vector<PlaceId> cards;
    int kept = -1; ///< its scope, -1: left out
};

/// Scopes around a single card, and those that hold what the one around them holds, are left out.
void Stage::keepRun(Run& run, const std::vector<Run>& runs)
{
    int parent = run.scope.parent;
    while (parent >= 0 && runs[static_cast<size_t>(parent)].kept < 0)
        parent = runs[static_cast<size_t>(parent)].scope.parent;
    const bool isSame =
        parent >= 0 && runs[static_cast<size_t>(parent)].cards.size() == run.cards.size();
    if (!run.scope.isBody && (run.cards.size() < 2 || isSame)) return;
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

/// Runs of cards with the same scope in program order; a run is always free of ways out and in
/// again, so its frame never makes a cycle. Scopes around a single card are left out.
void Stage::findScopes(size_t version)
{
    const VersionView view = m_board->version(version);
    const auto repeated = repeatedScopes(view);
    std::vector<Run> runs;
    std::vector<int> open;
    for (const PlaceId place : m_board->sequence()) {
        const Storyboard::Place& info = m_board->places()[static_cast<size_t>(place)];
        const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
        if (!node || (node->kind == core::NodeKind::Parameter && info.owner == kNoPlace)) continue;
        if (info.output >= 0) continue;
        std::vector<ScopeName> names = scopeNames(view, place);
        if (const auto found = repeated.find(outermostOwner(place)); found != repeated.end())
            names.insert(names.begin(), found->second.begin(), found->second.end());
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
                {{path, added.name, parent, 0, added.owner, added.isRepeat, added.isBody},
                 added.key,
                 {},
                 -1});
        }
        for (const int run : open) runs[static_cast<size_t>(run)].cards.push_back(place);
    }
    for (Run& run : runs) keepRun(run, runs);
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
