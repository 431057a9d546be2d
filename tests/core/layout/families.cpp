// SPDX-License-Identifier: Apache-2.0
// Synthetic graphs for layout tests and timings.
#include "tests/core/layout/families.h"

namespace tenon::tests {

namespace {

core::LayoutGraph cards(uint32_t nodes)
{
    core::LayoutGraph graph;
    graph.nodes.assign(nodes, {180, 38, -1});
    return graph;
}

} // namespace

core::LayoutGraph chain(uint32_t nodes)
{
    core::LayoutGraph graph = cards(nodes);
    for (uint32_t i = 1; i < nodes; ++i) graph.edges.push_back({i - 1, i});
    return graph;
}

core::LayoutGraph residualLadder(uint32_t nodes)
{
    core::LayoutGraph graph = chain(nodes);
    for (uint32_t i = 0; i + 3 < nodes; i += 3) graph.edges.push_back({i, i + 3});
    return graph;
}

core::LayoutGraph transformer(uint32_t nodes, bool hasGlobalEdge)
{
    core::LayoutGraph graph = cards(nodes);
    const auto link = [&](uint32_t a, uint32_t b) {
        if (a < nodes && b < nodes) graph.edges.push_back({a, b});
    };
    for (uint32_t b = 1; b < nodes; b += 22) {
        const uint32_t in = b - 1;
        link(in, b);
        for (uint32_t branch = 0; branch < 3; ++branch) {
            const uint32_t first = b + 1 + branch * 4;
            link(b, first);
            for (uint32_t k = 1; k < 4; ++k) link(first + k - 1, first + k);
        }
        link(b + 4, b + 13);
        link(b + 8, b + 13);
        if (hasGlobalEdge) link(0, b + 13);
        link(b + 13, b + 14);
        link(b + 14, b + 15);
        link(b + 12, b + 15);
        link(b + 15, b + 16);
        link(in, b + 16);
        for (uint32_t k = 17; k < 22; ++k) link(b + k - 1, b + k);
        link(b + 16, b + 21);
    }
    return graph;
}

core::LayoutGraph randomDag(uint32_t nodes, uint32_t seed)
{
    core::LayoutGraph graph = cards(nodes);
    uint64_t state = seed;
    const auto next = [&](uint32_t bound) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<uint32_t>((state >> 33) % bound);
    };
    for (uint32_t i = 1; i < nodes; ++i) {
        graph.edges.push_back({i - 1 - next(i < 20 ? i : 20), i});
        if (next(2) == 0) graph.edges.push_back({next(i), i});
    }
    return graph;
}

core::LayoutGraph groupedLadder(uint32_t nodes, uint32_t blocksPerStage)
{
    core::LayoutGraph graph = residualLadder(nodes);
    int32_t stage = -1;
    for (uint32_t i = 0; i < nodes; i += 3) {
        if (i / 3 % blocksPerStage == 0) {
            stage = static_cast<int32_t>(graph.groups.size());
            graph.groups.push_back({});
        }
        for (uint32_t k = i; k < i + 3 && k < nodes; ++k)
            graph.nodes[k].group = static_cast<int32_t>(graph.groups.size());
        graph.groups.push_back({stage});
    }
    return graph;
}

} // namespace tenon::tests
