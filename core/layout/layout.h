// SPDX-License-Identifier: Apache-2.0
// Layered graph layout: positions of nodes, group frames and edges; painting is done elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tenon::core {

struct LayoutPoint
{
    float x = 0;
    float y = 0;
    friend bool operator==(const LayoutPoint&, const LayoutPoint&) = default;
};

struct LayoutRect
{
    float x = 0; ///< left
    float y = 0; ///< top
    float width = 0;
    float height = 0;
    float right() const { return x + width; }
    float bottom() const { return y + height; }
    float centreX() const { return x + width / 2; }
    friend bool operator==(const LayoutRect&, const LayoutRect&) = default;
};

struct LayoutNode
{
    float width = 0;
    float height = 0;
    int32_t group = -1; ///< index into LayoutGraph::groups, -1 at the top level
};

struct LayoutEdge
{
    uint32_t from = 0;
    uint32_t to = 0;
};

struct LayoutGroup
{
    int32_t parent = -1; ///< must be smaller than the group's own index
    bool isCollapsed = false;
    float collapsedWidth = 0;
    float collapsedHeight = 0;
    float rankGap = 0; ///< between members; 0 takes LayoutOptions::rankGap
};

/// What to place. Node indices are program order; edges may be in any order.
struct LayoutGraph
{
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
    std::vector<LayoutGroup> groups;
};

struct LayoutOptions
{
    float nodeGap = 28;
    float rankGap = 44;
    float railGap = 14; ///< between two edges passing one another
    float groupPadding = 14;
    float groupTitle = 30;       ///< added above the members of an open group
    uint32_t stubFanOut = 6;     ///< a source with at least this many readers ...
    uint32_t stubSpan = 12;      ///< ... is drawn as a local stub where the edge spans more ranks
    uint32_t railsPerNode = 3;   ///< bounds the rank crossings of long edges; the rest become stubs
    uint32_t orderingSweeps = 6; ///< upper bound; stops early when nothing improves
    /// Width by height that long chains are wrapped into columns for; 0: they are not.
    float wrapAspect = 0;
};

enum class EdgeShape : uint8_t
{
    Hidden, ///< both ends inside one collapsed group
    Rail,   ///< a line from source to target, y never decreasing in a graph without cycles unless
            ///< it goes on in the next column of a wrapped chain
    Stub    ///< only a short line into the target
};

struct EdgePath
{
    uint32_t first = 0; ///< into GraphLayout::points
    uint32_t count = 0;
    EdgeShape shape = EdgeShape::Hidden;
};

/// Between two points of a path with different x a curve with vertical ends is meant.
struct GraphLayout
{
    std::vector<LayoutRect> nodes;  ///< a node in a collapsed group has the group's frame
    std::vector<LayoutRect> groups; ///< empty when inside a collapsed group or without members
    std::vector<EdgePath> edges;
    std::vector<LayoutPoint> points;
    LayoutRect bounds;
};

/// Places the graph; the same input always gives the same output. Polls `shouldStop` and returns
/// nothing once it says so.
std::optional<GraphLayout> layoutGraph(const LayoutGraph& graph, const LayoutOptions& options = {},
                                       const std::function<bool()>& shouldStop = {});

} // namespace tenon::core
