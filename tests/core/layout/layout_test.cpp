// SPDX-License-Identifier: Apache-2.0
// Layout: nothing overlaps, edges run downwards, equal input gives equal output, groups hold their
// members, cancelling works.
#include "core/layout/layout.h"
#include "core/layout/level.h"
#include "tests/core/layout/families.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::tests {

namespace {

using core::EdgeShape;
using core::GraphLayout;
using core::LayoutGraph;
using core::layoutGraph;
using core::LayoutRect;

bool overlap(const LayoutRect& a, const LayoutRect& b)
{
    constexpr float kRounding = 0.5f;
    return a.x + kRounding < b.right() && b.x + kRounding < a.right() &&
           a.y + kRounding < b.bottom() && b.y + kRounding < a.bottom();
}

size_t overlapCount(std::vector<LayoutRect> rects)
{
    std::sort(rects.begin(), rects.end(),
              [](const LayoutRect& a, const LayoutRect& b) { return a.y < b.y; });
    size_t count = 0;
    for (size_t i = 0; i < rects.size(); ++i)
        for (size_t k = i + 1; k < rects.size() && rects[k].y < rects[i].bottom(); ++k)
            count += overlap(rects[i], rects[k]) ? 1 : 0;
    return count;
}

size_t risingEdgeCount(const GraphLayout& layout)
{
    size_t rising = 0;
    for (const core::EdgePath& path : layout.edges)
        for (uint32_t i = 1; i < path.count; ++i)
            rising += layout.points[path.first + i].y < layout.points[path.first + i - 1].y - 0.5f
                          ? 1
                          : 0;
    return rising;
}

/// Pieces of edges that pass through the inside of a node they do not belong to.
size_t edgesThroughNodes(const LayoutGraph& graph, const GraphLayout& layout)
{
    size_t hits = 0;
    for (size_t e = 0; e < layout.edges.size(); ++e) {
        const core::EdgePath& path = layout.edges[e];
        for (uint32_t i = 1; i < path.count; ++i) {
            const auto& a = layout.points[path.first + i - 1];
            const auto& b = layout.points[path.first + i];
            if (a.x != b.x) continue;
            for (uint32_t n = 0; n < layout.nodes.size(); ++n) {
                const LayoutRect& r = layout.nodes[n];
                if (n == graph.edges[e].from || n == graph.edges[e].to) continue;
                hits +=
                    a.x > r.x + 1 && a.x < r.right() - 1 && a.y < r.bottom() - 1 && b.y > r.y + 1
                        ? 1
                        : 0;
            }
        }
    }
    return hits;
}

size_t stubCount(const GraphLayout& layout)
{
    return static_cast<size_t>(
        std::count_if(layout.edges.begin(), layout.edges.end(),
                      [](const core::EdgePath& e) { return e.shape == EdgeShape::Stub; }));
}

class Family : public testing::TestWithParam<int>
{
protected:
    static LayoutGraph graph()
    {
        switch (GetParam()) {
        case 0: return chain(200);
        case 1: return residualLadder(600);
        case 2: return transformer(900, false);
        case 3: return transformer(900, true);
        case 4: return randomDag(400, 7);
        default: return groupedLadder(300, 4);
        }
    }
};

TEST_P(Family, PlacesNodesWithoutOverlap)
{
    EXPECT_EQ(overlapCount(layoutGraph(graph())->nodes), 0u);
}

TEST_P(Family, RunsEveryEdgeDownwards)
{
    const auto layout = layoutGraph(graph());
    EXPECT_EQ(risingEdgeCount(*layout), 0u);
}

TEST_P(Family, RunsEdgesAroundNodes)
{
    const LayoutGraph input = graph();
    EXPECT_EQ(edgesThroughNodes(input, *layoutGraph(input)), 0u);
}

TEST_P(Family, JoinsEveryEdgeToItsEnds)
{
    const LayoutGraph input = graph();
    const auto layout = layoutGraph(input);
    for (size_t e = 0; e < layout->edges.size(); ++e) {
        const core::EdgePath& path = layout->edges[e];
        ASSERT_GE(path.count, 2u) << "edge " << e;
        const LayoutRect& to = layout->nodes[input.edges[e].to];
        EXPECT_FLOAT_EQ(layout->points[path.first + path.count - 1].y, to.y);
        if (path.shape != EdgeShape::Rail) continue;
        const LayoutRect& from = layout->nodes[input.edges[e].from];
        EXPECT_FLOAT_EQ(layout->points[path.first].y, from.bottom());
        EXPECT_NEAR(layout->points[path.first].x, from.centreX(), 0.5f);
    }
}

TEST_P(Family, IsDeterministic)
{
    const auto a = layoutGraph(graph()), b = layoutGraph(graph());
    EXPECT_EQ(a->nodes, b->nodes);
    EXPECT_EQ(a->points, b->points);
}

INSTANTIATE_TEST_SUITE_P(Families, Family, testing::Range(0, 6));

TEST(Layout, KeepsAChainStraight)
{
    const auto layout = layoutGraph(chain(50));
    for (const LayoutRect& rect : layout->nodes) EXPECT_FLOAT_EQ(rect.x, layout->nodes[0].x);
    EXPECT_EQ(layout->points.size(), 2u * 49);
}

TEST(Layout, DrawsTheGlobalEdgeAsStubsAndOthersAsRails)
{
    EXPECT_EQ(stubCount(*layoutGraph(transformer(900, false))), 0u);
    const auto layout = layoutGraph(transformer(900, true));
    EXPECT_GT(stubCount(*layout), 30u);
    EXPECT_LT(stubCount(*layout), 45u);
}

TEST(Layout, KeepsARandomGraphHardlyWiderThanItsWidestLayer)
{
    for (const uint32_t seed : {1u, 7u, 23u}) {
        const LayoutGraph graph = randomDag(1000, seed);
        const auto layout = layoutGraph(graph);
        core::Level level;
        for (const core::LayoutNode& node : graph.nodes)
            level.items.push_back({node.width, node.height});
        for (const core::LayoutEdge& edge : graph.edges)
            level.edges.push_back({edge.from, edge.to});
        const core::LayoutOptions options;
        const float widest = widestLayer(makeLayers(level, rankItems(level), options), options);
        EXPECT_LT(layout->bounds.width, 3 * widest);
        EXPECT_EQ(overlapCount(layout->nodes), 0u);
        EXPECT_EQ(risingEdgeCount(*layout), 0u);
        EXPECT_EQ(edgesThroughNodes(graph, *layout), 0u);
        EXPECT_EQ(layout->points, layoutGraph(graph)->points);
    }
}

TEST(Layout, PullsFeedersDownToTheirReader)
{
    LayoutGraph graph = chain(20);
    graph.nodes.resize(23, {180, 38, -1});
    graph.edges.push_back({20, 21}); // a side chain of three that feeds node 15
    graph.edges.push_back({21, 22});
    graph.edges.push_back({22, 15});
    const auto layout = layoutGraph(graph);
    EXPECT_FLOAT_EQ(layout->nodes[22].y, layout->nodes[14].y);
    EXPECT_FLOAT_EQ(layout->nodes[20].y, layout->nodes[12].y);
}

TEST(Layout, SurvivesACycle)
{
    LayoutGraph graph = chain(5);
    graph.edges.push_back({4, 1});
    graph.edges.push_back({2, 2});
    const auto layout = layoutGraph(graph);
    ASSERT_TRUE(layout);
    EXPECT_EQ(overlapCount(layout->nodes), 0u);
}

TEST(Layout, UntanglesTwoCrossedChains)
{
    core::Level level;
    level.items.assign(8, {100, 30});
    for (const auto& [a, b] : {std::pair{0u, 3u}, {1u, 2u}, {2u, 5u}, {3u, 4u}, {4u, 7u}, {5u, 6u}})
        level.edges.push_back({a, b});
    const core::LayoutOptions options;
    core::Layers layers = makeLayers(level, rankItems(level), options);
    EXPECT_GT(crossingCount(layers), 0u);
    ASSERT_TRUE(orderLayers(layers, options, {}));
    EXPECT_EQ(crossingCount(layers), 0u);
}

TEST(Layout, HoldsMembersInsideTheirGroups)
{
    const LayoutGraph graph = groupedLadder(90, 5);
    const auto layout = layoutGraph(graph);
    const auto inside = [](const LayoutRect& in, const LayoutRect& out) {
        return in.x >= out.x && in.y >= out.y && in.right() <= out.right() &&
               in.bottom() <= out.bottom();
    };
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        EXPECT_TRUE(
            inside(layout->nodes[n], layout->groups[static_cast<size_t>(graph.nodes[n].group)]));
    for (size_t g = 0; g < graph.groups.size(); ++g) {
        if (graph.groups[g].parent < 0) continue;
        EXPECT_TRUE(
            inside(layout->groups[g], layout->groups[static_cast<size_t>(graph.groups[g].parent)]));
    }
}

TEST(Layout, ShowsACollapsedGroupAsOneItem)
{
    LayoutGraph graph = groupedLadder(90, 5);
    graph.groups[0].isCollapsed = true;
    graph.groups[0].collapsedWidth = 200;
    graph.groups[0].collapsedHeight = 50;
    const auto layout = layoutGraph(graph);
    EXPECT_EQ(layout->groups[0].height, 50);
    EXPECT_EQ(layout->nodes[0], layout->groups[0]);
    EXPECT_EQ(layout->edges[0].shape, EdgeShape::Hidden);
    EXPECT_EQ(layout->groups[1].width, 0) << "a group inside a collapsed one is not drawn";
}

TEST(Layout, StopsWhenAsked)
{
    int polls = 0;
    EXPECT_FALSE(layoutGraph(residualLadder(300), {}, [&] { return ++polls > 2; }));
    EXPECT_EQ(polls, 3);
}

TEST(Layout, AcceptsAnEmptyGraphAndLooseNodes)
{
    EXPECT_TRUE(layoutGraph(LayoutGraph{})->nodes.empty());
    LayoutGraph loose;
    loose.nodes.assign(5, {100, 30, -1});
    EXPECT_EQ(overlapCount(layoutGraph(loose)->nodes), 0u);
}

} // namespace

} // namespace tenon::tests
