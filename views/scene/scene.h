// SPDX-License-Identifier: GPL-3.0-or-later
// Scene: an immutable list of what the canvas paints, with meanings instead of colours.
#pragma once

#include "core/layout/layout.h"
#include "views/models/node_text.h"
#include "views/scene/card_looks.h"
#include "views/scene/storyboard.h"

#include <QPointF>
#include <QRectF>
#include <QString>

#include <memory>
#include <vector>

namespace tenon::views {

enum class DiffState : uint8_t
{
    Plain,     ///< no diff is shown
    Unchanged, ///< dimmed
    Added,
    Removed,
    Changed
};

constexpr bool isDim(DiffState state) { return state == DiffState::Unchanged; }

struct SceneItem
{
    PlaceId place = kNoPlace;
    core::NodeId node; ///< that stands there
    QRectF rect;
    QString title;
    QString name; ///< the node's, or of those that it comes from
    QString detail;
    QString figure;     ///< right-aligned: a time, "error 3.1e-06"
    QString figureNote; ///< what the figure is and how it is known
    QString spoken;
    QString note; ///< frames: the rule that made them
    OpFamily family = OpFamily::Elementwise;
    DiffState state = DiffState::Plain;
    PlaceId frame = kNoPlace; ///< the fused frame that the card stands in
    bool isBeside = false;    ///< constant arithmetic in the lane beside the program
    bool isBefore = false;    ///< on the left of two versions side by side
    bool isFrame = false;
    bool isMember = false;
    bool isFaulty = false;    ///< an error of the import is about it, or about a node inside
    bool isScope = false;     ///< a frame of the model's own hierarchy
    bool isCollapsed = false; ///< a scope shown as one card
    bool hasFigure = false;   ///< what computes something
    bool isEstimated = false; ///< the figure is the node's part of a kernel's
    float heat = -1;          ///< 0..1 share of the largest figure, -1 when it has none
};

struct SceneEdge
{
    int from = -1; ///< index into items
    int to = -1;
    uint32_t first = 0;
    uint32_t count = 0;
    bool isStub = false;
    bool isSideways = false; ///< from the right of one card to the left of another
    DiffState state = DiffState::Plain;
    QString label;
    QPointF labelAt; ///< on the edge, clear of the frames it crosses
};

/// Between an item on the left and what became of it on the right: the heights of its two ends.
struct SceneRibbon
{
    int from = -1;
    int to = -1;
    double fromTop = 0, fromBottom = 0;
    double toTop = 0, toBottom = 0;
    DiffState state = DiffState::Changed;
};

/// One of two versions side by side.
struct SceneColumn
{
    QString title;
    double left = 0;
    double right = 0;
};

struct Scene
{
    std::vector<SceneItem> items; ///< frames first, then cards in program order
    std::vector<SceneEdge> edges;
    std::vector<SceneRibbon> ribbons;
    std::vector<SceneColumn> columns; ///< empty for one version
    std::vector<QPointF> points;
    QRectF bounds;                ///< of all versions: the same for every scene of a stage
    QRectF visible;               ///< of the items of this scene
    std::vector<int> itemOfPlace; ///< -1 when not shown
    QString caption;
    CardLooks looks;
    CostUnit unit = CostUnit::Time; ///< of times
    float least = 0;                ///< figure: what a heat of 0 stands for
    float largest = 0;              ///< figure: what a heat of 1 stands for

    int itemAt(PlaceId place) const
    {
        return place < 0 || static_cast<size_t>(place) >= itemOfPlace.size()
                   ? -1
                   : itemOfPlace[static_cast<size_t>(place)];
    }
};

using ScenePtr = std::shared_ptr<const Scene>;

constexpr float kCardWidth = 212;
constexpr float kCardHeight = 42;

} // namespace tenon::views
