// SPDX-License-Identifier: GPL-3.0-or-later
// Storyboard: one set of places for all versions of a model, so that stepping through the passes
// moves nothing that was not touched.
#pragma once

#include "views/models/document.h"

#include <unordered_map>

namespace tenon::views {

/// A place on the canvas: a card, or a frame around cards (a fused operator). Ids are dense.
using PlaceId = int;
constexpr PlaceId kNoPlace = -1;

/// What stands at a place in one version; `inner` is the operator inside a fused call of one.
struct Occupant
{
    core::NodePtr node;
    core::NodePtr inner;
};

/// A value going from one card to another in one version.
struct Flow
{
    PlaceId from = kNoPlace;
    PlaceId to = kNoPlace;
    core::ValueRef value;
};

/// One version of the module laid over the places.
struct VersionView
{
    const core::Module* module = nullptr;
    std::vector<Occupant> occupants; ///< by place; null node: empty
    std::vector<Flow> flows;
};

/// Whether the nested functions of control flow have cards of their own.
enum class BodyCards : uint8_t
{
    Hidden,
    Shown
};

/// Built once per document. A node that replaces another one takes its place; a fused call is a
/// frame around its members' places.
class Storyboard
{
public:
    struct Place
    {
        bool isFrame = false;
        PlaceId owner = kNoPlace;     ///< of a card in a nested function: the node it belongs to
        int body = -1;                ///< with an owner: which of its functions
        PlaceId frame = kNoPlace;     ///< the frame a card belongs to, once fused
        int output = -1;              ///< index of the model output that this card stands for
        std::vector<PlaceId> members; ///< of a frame, in program order
    };

    explicit Storyboard(DocumentPtr document, BodyCards bodies = BodyCards::Hidden);

    const Document& document() const { return *m_document; }
    bool showsBodies() const { return m_bodies == BodyCards::Shown; }
    const std::vector<Place>& places() const { return m_places; }
    /// Cards in program order, merged over all versions.
    const std::vector<PlaceId>& sequence() const { return m_sequence; }
    /// Every pair of cards joined in any version.
    const std::vector<std::pair<PlaceId, PlaceId>>& joints() const { return m_joints; }
    /// Parallel to joints(): true where a longer way is interrupted whenever the joint
    /// exists; such a joint is the shape that the way has in other versions.
    const std::vector<bool>& bypasses() const { return m_bypasses; }
    PlaceId placeOf(core::NodeId node) const;
    VersionView version(size_t index) const;

private:
    /// Which cards of a fused call read its operands and give its results.
    struct Wiring
    {
        core::FunctionId callee;
        std::vector<std::vector<PlaceId>> readers;
        std::vector<PlaceId> results;
        std::vector<std::pair<PlaceId, core::NodePtr>> members;
        std::vector<Flow> inner;
    };

    void visitVersion(size_t index);
    void takeOverPlaces(size_t index);
    void addOutputs();
    void absorbBetween();
    void wireCalls(const core::Module& module);
    void collectJoints();
    void findBypasses();
    PlaceId newCard();
    bool isShown(const core::Module& module, core::NodeId id) const;
    void placeNew(const core::Module& module, const core::GraphFunction& function);
    void placeBodies(const core::Module& module, core::NodeId owner);
    void visitBodies(const core::Module& module, const core::NodeRecord& owner,
                     VersionView& view) const;
    void inherit(core::NodeId from, core::NodeId to);
    std::vector<PlaceId> bodyResults(const core::Module& module, const core::NodeRecord& owner,
                                     uint32_t result) const;
    std::vector<PlaceId> sourcesOf(const core::Module& module, core::ValueRef value) const;
    void addReaders(const core::Module& module, const core::NodeRecord& node,
                    VersionView& view) const;

    DocumentPtr m_document;
    BodyCards m_bodies;
    std::vector<Place> m_places;
    std::vector<PlaceId> m_sequence;
    std::vector<std::pair<PlaceId, PlaceId>> m_joints;
    std::vector<bool> m_bypasses;
    std::vector<uint64_t> m_jointPresence; ///< parallel to m_joints
    std::unordered_map<core::NodeId, PlaceId> m_placeOf;
    std::unordered_map<core::NodeId, Wiring> m_wiring; ///< by call and by what replaced it
    std::vector<PlaceId> m_outputs;
};

} // namespace tenon::views
