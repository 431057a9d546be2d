// SPDX-License-Identifier: GPL-3.0-or-later
// Places over all versions: who takes whose place, what is framed with what, who reads whom.
#include "views/scene/storyboard.h"

#include "views/models/node_text.h"

#include <algorithm>
#include <map>

namespace tenon::views {

using core::NodeId;
using core::NodeKind;

Storyboard::Storyboard(DocumentPtr document, BodyCards bodies)
    : m_document(std::move(document))
    , m_bodies(bodies)
{
    if (!m_document->imported.mainId().isValid()) return;
    for (size_t v = 0; v < m_document->versionCount(); ++v) visitVersion(v);
    addOutputs();
    collectJoints();
    absorbBetween();
    findBypasses();
}

PlaceId Storyboard::placeOf(NodeId node) const
{
    const auto it = m_placeOf.find(node);
    return it == m_placeOf.end() ? kNoPlace : it->second;
}

PlaceId Storyboard::newCard()
{
    m_places.emplace_back();
    return static_cast<PlaceId>(m_places.size() - 1);
}

bool Storyboard::isShown(const core::Module& module, NodeId id) const
{
    const core::NodePtr& node = module.findNode(id);
    return node && node->kind != NodeKind::Constant;
}

void Storyboard::inherit(NodeId from, NodeId to)
{
    const auto it = m_placeOf.find(from);
    if (it == m_placeOf.end()) return;
    const PlaceId place = it->second;
    m_placeOf.emplace(to, place);
    const auto wiring = m_wiring.find(from);
    if (wiring != m_wiring.end()) {
        const Wiring copy = wiring->second;
        m_wiring.emplace(to, copy);
    }
}

namespace {

/// The same operator, perhaps for another layout: nn.conv2d and nn.contrib_conv2d_NCHWc.
bool isSameFamily(const core::NodeRecord& a, const core::NodeRecord& b)
{
    if (a.op.empty() || b.op.empty()) return false;
    const OpFamily family = familyOfOp(a.op);
    return a.op == b.op || (family != OpFamily::Elementwise && family == familyOfOp(b.op));
}

bool readsOnlyConstants(const core::Module& module, NodeId id)
{
    const core::NodeRecord& node = module.node(id);
    if (node.kind == NodeKind::Parameter || node.operands.empty()) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](core::ValueRef operand) {
        const core::NodePtr& source = module.findNode(operand.node);
        return !source || source->kind == NodeKind::Constant;
    });
}

} // namespace

/// A new node takes the place of an erased one of the same change, the same operator first.
void Storyboard::takeOverPlaces(size_t index)
{
    if (index == 0) return;
    const core::Module& before = m_document->version(index - 1);
    const core::Module& after = m_document->version(index);
    for (const core::Change& change : m_document->passes[index - 1].changes) {
        std::vector<NodeId> leaving, coming;
        for (const NodeId id : change.erased)
            if (isShown(before, id) && m_placeOf.count(id)) leaving.push_back(id);
        for (const NodeId id : change.to) {
            if (m_placeOf.count(id) || !isShown(after, id)) continue;
            // What moved to the constants' side stands elsewhere, not where it came from.
            if (after.node(id).kind != NodeKind::Call && !readsOnlyConstants(after, id))
                coming.push_back(id);
        }
        const auto pair = [&](bool sameOp) {
            // From the back: the last new node gives the result that the old one gave.
            for (auto to = coming.rbegin(); to != coming.rend(); ++to)
                for (auto from = leaving.rbegin(); from != leaving.rend(); ++from) {
                    if (!to->isValid() || !from->isValid()) continue;
                    if (sameOp && !isSameFamily(before.node(*from), after.node(*to))) continue;
                    inherit(*from, *to);
                    *from = *to = NodeId();
                }
        };
        pair(true);
        pair(false);
    }
}

/// Cards for nodes not seen before, in the sequence right after the node before them.
void Storyboard::placeNew(const core::Module& module, const core::GraphFunction& function)
{
    std::vector<PlaceId> fresh;
    PlaceId previous = kNoPlace;
    std::unordered_map<PlaceId, std::vector<PlaceId>> insertions;
    const auto visit = [&](NodeId id) {
        if (!isShown(module, id)) return;
        const auto known = m_placeOf.find(id);
        if (known != m_placeOf.end()) {
            if (!m_places[static_cast<size_t>(known->second)].isFrame) previous = known->second;
            return;
        }
        if (module.node(id).kind == NodeKind::Call) return;
        const PlaceId place = newCard();
        m_placeOf.emplace(id, place);
        insertions[previous].push_back(place);
    };
    for (const NodeId id : function.params) visit(id);
    for (const NodeId id : function.order) visit(id);
    if (insertions.empty()) return;
    std::vector<PlaceId> merged = insertions[kNoPlace];
    for (const PlaceId place : m_sequence) {
        merged.push_back(place);
        const auto after = insertions.find(place);
        if (after != insertions.end())
            merged.insert(merged.end(), after->second.begin(), after->second.end());
    }
    m_sequence = std::move(merged);
}

/// Frames for calls of fused functions not seen before; one member needs no frame.
void Storyboard::wireCalls(const core::Module& module)
{
    for (const NodeId id : module.main().order) {
        const core::NodePtr& call = module.findNode(id);
        if (!call || call->kind != NodeKind::Call) continue;
        const auto callee = module.functions().find(call->callee);
        if (callee == module.functions().end()) continue;
        const auto known = m_wiring.find(id);
        if (known != m_wiring.end() && known->second.callee == call->callee) continue;
        const core::GraphFunction& function = *callee->second;
        Wiring wiring;
        wiring.callee = call->callee;
        for (const NodeId member : function.order)
            if (isShown(module, member) && m_placeOf.count(member))
                wiring.members.emplace_back(m_placeOf.at(member), module.findNode(member));
        for (const NodeId param : function.params) {
            std::vector<PlaceId> readers;
            for (const auto& [place, member] : wiring.members)
                for (const core::ValueRef operand : member->operands)
                    if (operand.node == param) readers.push_back(place);
            wiring.readers.push_back(std::move(readers));
        }
        for (const core::ValueRef result : function.results)
            wiring.results.push_back(placeOf(result.node));
        for (const auto& [place, member] : wiring.members)
            for (const core::ValueRef operand : member->operands) {
                const PlaceId source = operand.node.isValid() ? placeOf(operand.node) : kNoPlace;
                if (source != kNoPlace) wiring.inner.push_back({source, place, operand});
            }
        if (!m_placeOf.count(id) && !wiring.members.empty()) {
            if (wiring.members.size() == 1) {
                m_placeOf.emplace(id, wiring.members[0].first);
            } else {
                const PlaceId frame = newCard();
                m_places[static_cast<size_t>(frame)].isFrame = true;
                m_placeOf.emplace(id, frame);
                for (const auto& [place, member] : wiring.members) {
                    m_places[static_cast<size_t>(frame)].members.push_back(place);
                    m_places[static_cast<size_t>(place)].frame = frame;
                }
            }
        }
        m_wiring[id] = std::move(wiring);
    }
}

void Storyboard::visitVersion(size_t index)
{
    const core::Module& module = m_document->version(index);
    if (index > 0 && !m_document->passes[index - 1].isChanged) return;
    takeOverPlaces(index);
    placeNew(module, module.main());
    for (const NodeId id : module.main().order) {
        const core::NodePtr& node = module.findNode(id);
        if (!node || node->kind != NodeKind::Call) continue;
        const auto callee = module.functions().find(node->callee);
        if (callee == module.functions().end()) continue;
        for (const NodeId member : callee->second->order)
            if (isShown(module, member) && !m_placeOf.count(member)) {
                m_placeOf.emplace(member, newCard());
                m_sequence.push_back(m_placeOf.at(member));
            }
    }
    wireCalls(module);
    if (m_bodies == BodyCards::Hidden) return;
    for (const NodeId id : module.main().order) placeBodies(module, id);
}

void Storyboard::addOutputs()
{
    const size_t count = m_document->imported.main().results.size();
    for (size_t i = 0; i < count; ++i) {
        const PlaceId place = newCard();
        m_places[static_cast<size_t>(place)].output = static_cast<int>(i);
        m_outputs.push_back(place);
        m_sequence.push_back(place);
    }
}

/// The cards that a value comes from, as seen from outside of fused calls.
std::vector<PlaceId> Storyboard::sourcesOf(const core::Module& module, core::ValueRef value) const
{
    if (!value.node.isValid()) return {};
    const core::NodePtr& node = module.findNode(value.node);
    if (!node || node->kind == NodeKind::Constant) return {};
    if (std::vector<PlaceId> given = bodyResults(module, *node, value.index); !given.empty())
        return given;
    const auto wiring = m_wiring.find(value.node);
    if (wiring != m_wiring.end()) {
        const auto& results = wiring->second.results;
        if (value.index < results.size() && results[value.index] != kNoPlace)
            return {results[value.index]};
        if (!wiring->second.members.empty()) return {wiring->second.members.back().first};
    }
    const PlaceId place = placeOf(value.node);
    return place == kNoPlace ? std::vector<PlaceId>{} : std::vector<PlaceId>{place};
}

void Storyboard::addReaders(const core::Module& module, const core::NodeRecord& node,
                            VersionView& view) const
{
    const auto wiring = m_wiring.find(node.id);
    for (size_t k = 0; k < node.operands.size(); ++k) {
        for (const PlaceId source : sourcesOf(module, node.operands[k])) {
            if (wiring == m_wiring.end()) {
                const PlaceId target = placeOf(node.id);
                if (target != kNoPlace) view.flows.push_back({source, target, node.operands[k]});
                continue;
            }
            const auto& readers = wiring->second.readers;
            if (k < readers.size() && !readers[k].empty()) {
                for (const PlaceId target : readers[k])
                    view.flows.push_back({source, target, node.operands[k]});
            } else if (!wiring->second.members.empty()) {
                view.flows.push_back(
                    {source, wiring->second.members.front().first, node.operands[k]});
            }
        }
    }
}

VersionView Storyboard::version(size_t index) const
{
    VersionView view;
    view.module = &m_document->version(index);
    view.occupants.resize(m_places.size());
    if (!view.module->mainId().isValid()) return view;
    const core::Module& module = *view.module;
    const core::GraphFunction& main = module.main();
    const auto visit = [&](NodeId id) {
        if (!isShown(module, id)) return;
        const core::NodePtr& node = module.findNode(id);
        const PlaceId place = placeOf(id);
        if (place == kNoPlace) return;
        view.occupants[static_cast<size_t>(place)].node = node;
        const auto wiring = m_wiring.find(id);
        if (wiring != m_wiring.end()) {
            for (const auto& [card, member] : wiring->second.members) {
                Occupant& occupant = view.occupants[static_cast<size_t>(card)];
                (card == place ? occupant.inner : occupant.node) = member;
            }
            view.flows.insert(view.flows.end(), wiring->second.inner.begin(),
                              wiring->second.inner.end());
        }
        addReaders(module, *node, view);
        if (m_bodies == BodyCards::Shown) visitBodies(module, *node, view);
    };
    for (const NodeId id : main.params) visit(id);
    for (const NodeId id : main.order) visit(id);
    for (size_t i = 0; i < m_outputs.size() && i < main.results.size(); ++i) {
        const core::ValueRef result = main.results[i];
        if (result.node.isValid())
            view.occupants[static_cast<size_t>(m_outputs[i])].node = module.findNode(result.node);
        for (const PlaceId source : sourcesOf(module, result))
            view.flows.push_back({source, m_outputs[i], result});
    }
    return view;
}

void Storyboard::collectJoints()
{
    m_joints.clear();
    m_jointPresence.clear();
    std::map<std::pair<PlaceId, PlaceId>, size_t> seen;
    for (size_t v = 0; v < m_document->versionCount(); ++v) {
        if (v > 0 && !m_document->passes[v - 1].isChanged) continue;
        const VersionView view = version(v);
        const uint64_t bit = uint64_t{1} << (v % 64);
        for (const Flow& flow : view.flows) {
            if (flow.from == flow.to) continue;
            const auto [it, isNew] = seen.try_emplace({flow.from, flow.to}, m_joints.size());
            if (isNew) {
                m_joints.emplace_back(flow.from, flow.to);
                m_jointPresence.push_back(0);
            }
            m_jointPresence[it->second] |= bit;
        }
    }
}

void Storyboard::findBypasses()
{
    constexpr int kLongestWay = 6;
    std::vector<std::vector<size_t>> out(m_places.size());
    for (size_t j = 0; j < m_joints.size(); ++j)
        out[static_cast<size_t>(m_joints[j].first)].push_back(j);
    m_bypasses.assign(m_joints.size(), false);
    uint64_t everything = 0;
    for (const uint64_t versions : m_jointPresence) everything |= versions;
    for (size_t j = 0; j < m_joints.size(); ++j) {
        const uint64_t versions = m_jointPresence[j];
        const PlaceId target = m_joints[j].second;
        if (versions == everything) continue; // every other way exists together with it
        const auto leads = [&](auto&& self, PlaceId place, int length, bool isBroken) -> bool {
            for (const size_t next : out[static_cast<size_t>(place)]) {
                if (next == j || m_bypasses[next]) continue; // a way that is not laid out itself
                const bool isElsewhere = (m_jointPresence[next] & versions) == 0;
                if (m_joints[next].second == target) {
                    if (length > 0 && (isBroken || isElsewhere)) return true;
                } else if (length < kLongestWay &&
                           self(self, m_joints[next].second, length + 1, isBroken || isElsewhere)) {
                    return true;
                }
            }
            return false;
        };
        m_bypasses[j] = leads(leads, m_joints[j].first, 0, false);
    }
}

/// A card that vanished before fusion and stood between members of one frame (a folded scale) goes
/// inside the frame; otherwise the frame would have a way out and in again.
void Storyboard::absorbBetween()
{
    std::vector<std::vector<PlaceId>> next(m_places.size());
    for (const auto& [from, to] : m_joints) next[static_cast<size_t>(from)].push_back(to);
    const size_t placeCount = m_places.size();
    for (size_t frame = 0; frame < placeCount; ++frame) {
        if (!m_places[frame].isFrame) continue;
        constexpr int kReach = 6; // folded operators stand directly beside their frame
        const auto reaches = [&](auto&& self, PlaceId card, int depth) -> bool {
            const Place& place = m_places[static_cast<size_t>(card)];
            if (place.frame == static_cast<PlaceId>(frame)) return true;
            if (place.frame != kNoPlace || place.output >= 0 || depth == kReach) return false;
            bool found = false;
            for (const PlaceId reader : next[static_cast<size_t>(card)])
                found |= self(self, reader, depth + 1);
            if (found) m_places[static_cast<size_t>(card)].frame = static_cast<PlaceId>(frame);
            return found;
        };
        const std::vector<PlaceId> members = m_places[frame].members;
        for (const PlaceId member : members)
            for (const PlaceId reader : next[static_cast<size_t>(member)])
                reaches(reaches, reader, 0);
    }
}

} // namespace tenon::views
