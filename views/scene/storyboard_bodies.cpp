// SPDX-License-Identifier: GPL-3.0-or-later
// Cards of the functions nested in control flow (If, Loop, Scan): they stand after their owner.
#include "views/scene/storyboard.h"

#include <algorithm>

namespace tenon::views {

using core::NodeId;

void Storyboard::placeBodies(const core::Module& module, NodeId owner)
{
    const core::NodeRecord& node = module.node(owner);
    if (node.bodies.empty()) return;
    const PlaceId ownerPlace = placeOf(owner);
    std::vector<PlaceId> fresh;
    for (size_t b = 0; b < node.bodies.size(); ++b) {
        const core::GraphFunction& body = module.function(node.bodies[b]);
        const auto place = [&](NodeId id) {
            if (!isShown(module, id) || m_placeOf.count(id)) return;
            const PlaceId card = newCard();
            m_places[static_cast<size_t>(card)].owner = ownerPlace;
            m_places[static_cast<size_t>(card)].body = static_cast<int>(b);
            m_placeOf.emplace(id, card);
            fresh.push_back(card);
        };
        for (const NodeId id : body.params) place(id);
        for (const NodeId id : body.order) place(id);
    }
    const auto at = std::find(m_sequence.begin(), m_sequence.end(), ownerPlace);
    if (at == m_sequence.end()) return;
    m_sequence.insert(at + 1, fresh.begin(), fresh.end());
    for (const core::FunctionId id : node.bodies)
        for (const NodeId inner : module.function(id).order) placeBodies(module, inner);
}

/// Where a result of control flow is computed: the last results of each of its functions (a loop's
/// function gives its condition first). Empty while the functions have no cards.
std::vector<PlaceId> Storyboard::bodyResults(const core::Module& module,
                                             const core::NodeRecord& owner, uint32_t result) const
{
    std::vector<PlaceId> places;
    if (m_bodies == BodyCards::Hidden) return places;
    for (const core::FunctionId id : owner.bodies) {
        const core::GraphFunction& body = module.function(id);
        const size_t extra =
            body.results.size() - std::min(body.results.size(), owner.resultCount());
        if (extra + result >= body.results.size()) continue;
        for (const PlaceId place : sourcesOf(module, body.results[extra + result]))
            places.push_back(place);
    }
    return places;
}

/// The owner leads to the parameters of its functions, and to the cards that read nothing else.
void Storyboard::visitBodies(const core::Module& module, const core::NodeRecord& owner,
                             VersionView& view) const
{
    const PlaceId ownerPlace = placeOf(owner.id);
    for (const core::FunctionId function : owner.bodies) {
        const core::GraphFunction& body = module.function(function);
        const auto show = [&](NodeId id) {
            const PlaceId place = placeOf(id);
            if (place == kNoPlace) return;
            const core::NodePtr& node = module.findNode(id);
            view.occupants[static_cast<size_t>(place)].node = node;
            const size_t before = view.flows.size();
            addReaders(module, *node, view);
            if (view.flows.size() == before) view.flows.push_back({ownerPlace, place, {}});
            visitBodies(module, *node, view);
        };
        for (const NodeId id : body.params) show(id);
        for (const NodeId id : body.order) show(id);
    }
}

} // namespace tenon::views
