// SPDX-License-Identifier: Apache-2.0
// Long chains as columns: read in order, nothing overlaps, edges go around what they do not join.
#include "core/layout/layout.h"
#include "tests/core/layout/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::tests {

namespace {

using core::GraphLayout;
using core::LayoutGraph;
using core::LayoutRect;

constexpr float kAspect = 1.6f;

GraphLayout wrapped(const LayoutGraph& graph, float aspect = kAspect)
{
    return *core::layoutGraph(graph, {.wrapAspect = aspect});
}

float aspectOf(const GraphLayout& layout) { return layout.bounds.width / layout.bounds.height; }

bool overlap(const LayoutRect& a, const LayoutRect& b)
{
    constexpr float kRounding = 0.5f;
    return a.x + kRounding < b.right() && b.x + kRounding < a.right() &&
           a.y + kRounding < b.bottom() && b.y + kRounding < a.bottom();
}

size_t overlapCount(const std::vector<LayoutRect>& rects)
{
    size_t count = 0;
    for (size_t i = 0; i < rects.size(); ++i)
        for (size_t k = i + 1; k < rects.size(); ++k) count += overlap(rects[i], rects[k]) ? 1 : 0;
    return count;
}

/// Straight pieces of edges, of any direction, inside of nodes that they do not belong to.
size_t edgesThroughNodes(const LayoutGraph& graph, const GraphLayout& layout)
{
    size_t hits = 0;
    for (size_t e = 0; e < layout.edges.size(); ++e)
        for (uint32_t i = 1; i < layout.edges[e].count; ++i) {
            const auto& a = layout.points[layout.edges[e].first + i - 1];
            const auto& b = layout.points[layout.edges[e].first + i];
            if (a.x != b.x && a.y != b.y) continue;
            const LayoutRect line{std::min(a.x, b.x) - 1, std::min(a.y, b.y) - 1,
                                  std::abs(a.x - b.x) + 2, std::abs(a.y - b.y) + 2};
            for (uint32_t n = 0; n < layout.nodes.size(); ++n)
                if (n != graph.edges[e].from && n != graph.edges[e].to &&
                    overlap(line, layout.nodes[n]))
                    ++hits;
        }
    return hits;
}

void expectJoined(const LayoutGraph& graph, const GraphLayout& layout)
{
    for (size_t e = 0; e < layout.edges.size(); ++e) {
        const core::EdgePath& path = layout.edges[e];
        ASSERT_GE(path.count, 2u) << "edge " << e;
        if (path.shape != core::EdgeShape::Rail) continue;
        const LayoutRect& from = layout.nodes[graph.edges[e].from];
        const LayoutRect& to = layout.nodes[graph.edges[e].to];
        EXPECT_NEAR(layout.points[path.first].y, from.bottom(), 0.5f) << "edge " << e;
        EXPECT_NEAR(layout.points[path.first].x, from.centreX(), 0.5f) << "edge " << e;
        EXPECT_NEAR(layout.points[path.first + path.count - 1].y, to.y, 0.5f) << "edge " << e;
    }
}

/// A chain inside of one open group, between a node before and a node behind it.
LayoutGraph chainInGroup(uint32_t nodes)
{
    LayoutGraph graph = chain(nodes);
    graph.groups.push_back({});
    for (uint32_t n = 1; n + 1 < nodes; ++n) graph.nodes[n].group = 0;
    return graph;
}

} // namespace

TEST(Wrap, BringsChainsNearTheShapeOfTheView)
{
    for (const uint32_t nodes : {60u, 170u, 1000u})
        for (const float aspect : {0.8f, 1.2f, 1.78f}) {
            const float found = aspectOf(wrapped(chain(nodes), aspect));
            EXPECT_LT(std::abs(std::log(found / aspect)), std::log(1.35f))
                << nodes << " nodes, " << aspect << " wanted, " << found << " found";
        }
}

TEST(Wrap, IsReadDownwardsAndThenToTheRight)
{
    const GraphLayout layout = wrapped(chain(170));
    size_t columns = 1;
    for (size_t n = 1; n < layout.nodes.size(); ++n) {
        const LayoutRect& before = layout.nodes[n - 1];
        const LayoutRect& now = layout.nodes[n];
        const bool isBelow = now.y >= before.bottom() && std::abs(now.x - before.x) < 1;
        const bool isNextColumn = now.x >= before.right() && now.y == layout.nodes[0].y;
        EXPECT_TRUE(isBelow || isNextColumn) << n;
        columns += isNextColumn ? 1 : 0;
    }
    EXPECT_GE(columns, 3u);
}

TEST(Wrap, MakesColumnsOfLikeHeightBesideOneLargeItem)
{
    LayoutGraph graph = chain(40);
    graph.nodes[20].height = 900; // decides how high the highest column is
    const GraphLayout layout = wrapped(graph);
    std::map<float, float> bottoms; // by the left of a column
    for (const LayoutRect& node : layout.nodes)
        bottoms[node.x] = std::max(bottoms[node.x], node.bottom());
    bottoms.erase(layout.nodes[20].x);
    ASSERT_GE(bottoms.size(), 2u);
    const auto [least, most] = std::minmax_element(
        bottoms.begin(), bottoms.end(), [](auto& a, auto& b) { return a.second < b.second; });
    const float top = layout.nodes[0].y, card = graph.nodes[0].height;
    EXPECT_LT((most->second - top) - (least->second - top), 2.5f * card) << bottoms.size();
}

TEST(Wrap, KeepsNodesApartAndEdgesAround)
{
    const LayoutGraph graphs[] = {chain(200), residualLadder(600), transformer(900, true),
                                  groupedLadder(300, 4), chainInGroup(150)};
    for (const LayoutGraph& graph : graphs) {
        const GraphLayout layout = wrapped(graph), plain = *core::layoutGraph(graph);
        EXPECT_GT(aspectOf(layout), 3 * aspectOf(plain));
        EXPECT_EQ(overlapCount(layout.nodes), 0u);
        EXPECT_EQ(edgesThroughNodes(graph, layout), 0u);
        expectJoined(graph, layout);
        for (const LayoutRect& node : layout.nodes) {
            EXPECT_GE(node.x, -0.5f);
            EXPECT_LE(node.right(), layout.bounds.right() + 0.5f);
            EXPECT_LE(node.bottom(), layout.bounds.bottom() + 0.5f);
        }
    }
}

TEST(Wrap, KeepsMembersInTheirGroup)
{
    const LayoutGraph graph = groupedLadder(300, 4);
    const GraphLayout layout = wrapped(graph);
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        for (int32_t g = graph.nodes[n].group; g >= 0;
             g = graph.groups[static_cast<size_t>(g)].parent) {
            const LayoutRect& frame = layout.groups[static_cast<size_t>(g)];
            const LayoutRect& node = layout.nodes[n];
            EXPECT_TRUE(node.x >= frame.x && node.right() <= frame.right() + 0.5f &&
                        node.y >= frame.y && node.bottom() <= frame.bottom() + 0.5f)
                << "node " << n << " in group " << g;
        }
}

TEST(Wrap, LeavesAloneWhatIsNoLongChain)
{
    for (const LayoutGraph& graph : {chain(8), randomDag(400, 7)}) {
        const GraphLayout layout = wrapped(graph), plain = *core::layoutGraph(graph);
        EXPECT_EQ(layout.nodes, plain.nodes);
        EXPECT_EQ(layout.points, plain.points);
    }
}

TEST(Wrap, IsDeterministic)
{
    const LayoutGraph graph = residualLadder(600);
    EXPECT_EQ(wrapped(graph).nodes, wrapped(graph).nodes);
    EXPECT_EQ(wrapped(graph).points, wrapped(graph).points);
}

} // namespace tenon::tests
