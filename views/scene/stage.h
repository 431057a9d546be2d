// SPDX-License-Identifier: GPL-3.0-or-later
// Stage: a storyboard with positions, from which the scene of any version is made without moving
// anything.
#pragma once

#include "views/scene/scene.h"

#include <set>
#include <string>
#include <unordered_set>

namespace tenon::views {

/// A group of neighbouring nodes: a common name scope of the model file, or control flow with the
/// functions nested in it.
struct NameScope
{
    QString path; ///< identity for expanding and collapsing
    QString name;
    int parent = -1;
    int cardCount = 0;
    PlaceId owner = kNoPlace; ///< control flow: the card of its node
    bool isRepeat = false;    ///< blocks that follow one another, of a model without scopes
    bool isBody = false;      ///< control flow or one of its functions
};

enum class DiffMode : uint8_t
{
    Union, ///< before and after in one picture
    Split, ///< before | after
    After  ///< the module after the pass alone
};

class Stage
{
public:
    /// For the pass stepper: all versions, fused operators as frames.
    static Stage forPasses(std::shared_ptr<const Storyboard> board);
    /// For one version alone, grouped by the model's name scopes; `collapsed` holds scope paths.
    static Stage forScopes(std::shared_ptr<const Storyboard> board, size_t version,
                           std::set<QString> collapsed);

    /// Computes the positions; false when stopped. Runs in a job. `wrapAspect`: width by height
    /// that long chains become columns for; 0: they stay as long as they are.
    bool arrange(const std::function<bool()>& shouldStop = {}, float wrapAspect = 0);

    const Storyboard& board() const { return *m_board; }
    const std::vector<NameScope>& scopes() const { return m_scopes; }
    const std::set<QString>& collapsed() const { return m_collapsed; }
    /// Paths of the groups around a card, innermost first.
    std::vector<QString> scopesAround(PlaceId place) const;
    /// What the canvas shows for `version`, compared with the version before it in Union mode.
    Scene scene(size_t version, DiffMode mode, CardLooks looks = {}) const;
    /// What all passes between two versions changed, in one picture.
    Scene difference(size_t before, size_t after, CardLooks looks = {}) const;
    /// Two versions side by side, with ribbons between what became what.
    Scene split(size_t before, size_t after, CardLooks looks = {}) const;

    static constexpr float kRowGap = 10; ///< between the members in a fused frame

    /// Nodes with cards or frames of their own, without members and arithmetic of constants.
    std::vector<const core::NodeRecord*> standing(const VersionView& view) const;
    /// Nodes inside each scope, however deep.
    std::vector<std::vector<core::NodeId>> nodesByScope(const VersionView& view) const;

private:
    friend class SceneWriter;
    /// A card of constant arithmetic that is gone in the end: it stands in a lane beside the
    /// program, so that it takes no room in it.
    struct SideCard
    {
        PlaceId place = kNoPlace;
        PlaceId anchor = kNoPlace; ///< the first card of the program that reads it
        int distance = 1;          ///< readings between it and the anchor
        core::LayoutRect rect;
    };

    Stage(std::shared_ptr<const Storyboard> board, bool hasSideLane);
    void findSideCards();
    void placeSideCards();
    /// Where a card stands; empty for frames.
    core::LayoutRect rectOf(PlaceId place) const;
    void findScopes(size_t version);
    struct ScopeName;
    struct Run;
    void keepRun(Run& run, const std::vector<Run>& runs);
    PlaceId outermostOwner(PlaceId place) const;
    std::unordered_map<PlaceId, std::vector<ScopeName>>
    repeatedScopes(const VersionView& view) const;
    std::vector<ScopeName> scopeNames(const VersionView& view, PlaceId place) const;

    std::shared_ptr<const Storyboard> m_board;
    core::LayoutGraph m_graph;
    core::GraphLayout m_layout;
    std::vector<SideCard> m_sideCards;
    std::vector<int> m_nodeOfPlace;  ///< layout node of a card, -1 for frames and side cards
    std::vector<int> m_sideOfPlace;  ///< index into m_sideCards, -1 for others
    std::vector<int> m_groupOfPlace; ///< layout group of a frame, -1 for cards
    std::vector<int> m_scopeOfPlace; ///< innermost name scope of a card, -1
    std::vector<NameScope> m_scopes; ///< parallel to the layout groups of forScopes
    std::set<QString> m_collapsed;
    std::unordered_map<uint64_t, uint32_t> m_edgeOf; ///< (from, to) place -> layout edge
};

/// From one place to another, as one key.
inline uint64_t jointKey(PlaceId from, PlaceId to)
{
    return (static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32) | static_cast<uint32_t>(to);
}

/// Names of the nodes that errors of the import are about.
std::unordered_set<std::string> faultyNodes(const Document& document);

/// A record that only reads other values now (its operand was replaced) is not a change to look at.
bool isSameWork(const core::NodeRecord& a, const core::NodeRecord& b);

/// Index of the version shown by the Inspect page: the imported module, typed when possible.
size_t inspectVersion(const Document& document);

} // namespace tenon::views
