// SPDX-License-Identifier: Apache-2.0
// Proper layering of a ranked level: bends for long edges, neighbour lists, first order.
#include "core/layout/level.h"

#include <algorithm>
#include <numeric>

namespace tenon::core {

namespace {

uint32_t spanOf(const LevelEdge& edge, const std::vector<uint32_t>& rank)
{
    const uint32_t a = rank[edge.from], b = rank[edge.to];
    return a < b ? b - a : a - b;
}

/// The longest edges become stubs until the bends fit the budget, so that a random graph with
/// edges across everything stays linear in size.
void keepWithinBudget(Level& level, const std::vector<uint32_t>& rank, uint64_t budget)
{
    std::vector<uint32_t> longEdges;
    uint64_t total = 0;
    for (uint32_t e = 0; e < level.edges.size(); ++e) {
        if (level.edges[e].isStub || spanOf(level.edges[e], rank) < 2) continue;
        total += spanOf(level.edges[e], rank) - 1;
        longEdges.push_back(e);
    }
    if (total <= budget) return;
    std::stable_sort(longEdges.begin(), longEdges.end(), [&](uint32_t a, uint32_t b) {
        return spanOf(level.edges[a], rank) < spanOf(level.edges[b], rank);
    });
    uint64_t used = 0;
    for (const uint32_t e : longEdges) {
        used += spanOf(level.edges[e], rank) - 1;
        if (used > budget) level.edges[e].isStub = true;
    }
}

struct Segment
{
    uint32_t upper;
    uint32_t lower;
    float upperPort;
    float lowerPort;
};

std::vector<Segment> makeSegments(const Level& level, const std::vector<uint32_t>& rank,
                                  Layers& layers)
{
    std::vector<Segment> segments;
    segments.reserve(level.edges.size() * 2);
    layers.edgeBendFirst.resize(level.edges.size());
    layers.edgeBendCount.resize(level.edges.size());
    for (uint32_t e = 0; e < level.edges.size(); ++e) {
        const LevelEdge& edge = level.edges[e];
        layers.edgeBendFirst[e] = static_cast<uint32_t>(layers.layerOf.size());
        if (edge.isStub || rank[edge.from] == rank[edge.to]) continue;
        const bool isDown = rank[edge.from] < rank[edge.to];
        const uint32_t top = isDown ? edge.from : edge.to, bottom = isDown ? edge.to : edge.from;
        const float topPort = isDown ? edge.fromOffset : edge.toOffset;
        const float bottomPort = isDown ? edge.toOffset : edge.fromOffset;
        uint32_t above = top;
        float port = topPort;
        for (uint32_t r = rank[top] + 1; r < rank[bottom]; ++r) {
            const auto bend = static_cast<uint32_t>(layers.layerOf.size());
            layers.layerOf.push_back(r);
            layers.width.push_back(0);
            layers.isLoose.push_back(layers.isLoose[top]);
            segments.push_back({above, bend, port, 0});
            above = bend;
            port = 0;
        }
        layers.edgeBendCount[e] =
            static_cast<uint32_t>(layers.layerOf.size()) - layers.edgeBendFirst[e];
        segments.push_back({above, bottom, port, bottomPort});
    }
    return segments;
}

void linkNeighbours(const std::vector<Segment>& segments, Layers& layers)
{
    const size_t count = layers.layerOf.size();
    layers.upStart.assign(count + 1, 0);
    layers.downStart.assign(count + 1, 0);
    for (const Segment& s : segments) {
        ++layers.upStart[s.lower + 1];
        ++layers.downStart[s.upper + 1];
    }
    std::partial_sum(layers.upStart.begin(), layers.upStart.end(), layers.upStart.begin());
    std::partial_sum(layers.downStart.begin(), layers.downStart.end(), layers.downStart.begin());
    for (auto* list : {&layers.upper, &layers.lower}) list->resize(segments.size());
    for (auto* list : {&layers.upPort, &layers.upOwnPort, &layers.downPort, &layers.downOwnPort})
        list->resize(segments.size());
    std::vector<uint32_t> upFill = layers.upStart, downFill = layers.downStart;
    for (const Segment& s : segments) {
        const uint32_t u = upFill[s.lower]++, d = downFill[s.upper]++;
        layers.upper[u] = s.upper;
        layers.upPort[u] = s.upperPort;
        layers.upOwnPort[u] = s.lowerPort;
        layers.lower[d] = s.lower;
        layers.downPort[d] = s.lowerPort;
        layers.downOwnPort[d] = s.upperPort;
    }
}

/// Program order within each layer; bends stand where their edge's source came in the program.
void firstOrder(Layers& layers, uint32_t layerCount)
{
    layers.layerStart.assign(layerCount + 1, 0);
    for (const uint32_t layer : layers.layerOf) ++layers.layerStart[layer + 1];
    std::partial_sum(layers.layerStart.begin(), layers.layerStart.end(), layers.layerStart.begin());
    layers.order.resize(layers.layerOf.size());
    layers.position.resize(layers.layerOf.size());
    std::vector<uint32_t> fill = layers.layerStart;
    for (uint32_t item = 0; item < layers.layerOf.size(); ++item) {
        const uint32_t layer = layers.layerOf[item];
        layers.position[item] = fill[layer] - layers.layerStart[layer];
        layers.order[fill[layer]++] = item;
    }
}

} // namespace

Layers makeLayers(Level& level, const Ranking& ranking, const LayoutOptions& options)
{
    const std::vector<uint32_t>& rank = ranking.rank;
    keepWithinBudget(level, rank, uint64_t{options.railsPerNode} * level.items.size() + 2000);
    Layers layers;
    layers.realCount = static_cast<uint32_t>(level.items.size());
    layers.layerOf = rank;
    layers.isLoose = ranking.isLoose;
    layers.width.reserve(level.items.size());
    for (const LevelItem& item : level.items) layers.width.push_back(item.width);
    const std::vector<Segment> segments = makeSegments(level, rank, layers);
    linkNeighbours(segments, layers);
    const uint32_t layerCount = rank.empty() ? 0 : *std::max_element(rank.begin(), rank.end()) + 1;
    firstOrder(layers, layerCount);
    return layers;
}

} // namespace tenon::core
