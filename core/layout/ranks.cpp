// SPDX-License-Identifier: Apache-2.0
// Ranking of a level: cycle breaking, longest path, pulling feeders down to their reader.
#include "core/layout/level.h"

#include <algorithm>
#include <limits>

namespace tenon::core {

namespace {

/// Edges of a level by source and by target; reversed edges appear turned round.
struct Adjacency
{
    std::vector<uint32_t> outStart, out, inStart, in;

    explicit Adjacency(const Level& level)
        : outStart(level.items.size() + 1)
        , inStart(level.items.size() + 1)
    {
        for (const LevelEdge& edge : level.edges) {
            ++outStart[source(edge) + 1];
            ++inStart[target(edge) + 1];
        }
        for (size_t i = 1; i < outStart.size(); ++i) {
            outStart[i] += outStart[i - 1];
            inStart[i] += inStart[i - 1];
        }
        out.resize(level.edges.size());
        in.resize(level.edges.size());
        std::vector<uint32_t> outFill = outStart, inFill = inStart;
        for (uint32_t e = 0; e < level.edges.size(); ++e) {
            out[outFill[source(level.edges[e])]++] = e;
            in[inFill[target(level.edges[e])]++] = e;
        }
    }

    static uint32_t source(const LevelEdge& edge) { return edge.isReversed ? edge.to : edge.from; }
    static uint32_t target(const LevelEdge& edge) { return edge.isReversed ? edge.from : edge.to; }
};

bool indicesAreTopological(const Level& level)
{
    return std::all_of(level.edges.begin(), level.edges.end(),
                       [](const LevelEdge& e) { return e.from < e.to; });
}

/// Depth-first from low to high indices; edges to an item still on the stack are turned round.
std::vector<uint32_t> breakCycles(Level& level)
{
    const Adjacency adjacency(level);
    const auto count = static_cast<uint32_t>(level.items.size());
    enum State : uint8_t
    {
        New,
        Open,
        Closed
    };
    std::vector<uint8_t> state(count, New);
    std::vector<uint32_t> next = adjacency.outStart, stack, finished;
    finished.reserve(count);
    for (uint32_t root = 0; root < count; ++root) {
        if (state[root] != New) continue;
        stack.push_back(root);
        state[root] = Open;
        while (!stack.empty()) {
            const uint32_t item = stack.back();
            if (next[item] == adjacency.outStart[item + 1]) {
                state[item] = Closed;
                finished.push_back(item);
                stack.pop_back();
                continue;
            }
            LevelEdge& edge = level.edges[adjacency.out[next[item]++]];
            if (state[edge.to] == Open) {
                edge.isReversed = true;
            } else if (state[edge.to] == New) {
                state[edge.to] = Open;
                stack.push_back(edge.to);
            }
        }
    }
    std::reverse(finished.begin(), finished.end());
    return finished;
}

std::vector<uint32_t> topologicalOrder(Level& level)
{
    if (!indicesAreTopological(level)) return breakCycles(level);
    std::vector<uint32_t> order(level.items.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    return order;
}

/// Items that could stand lower than their longest path says, together with all that they read:
/// constants' arithmetic, second inputs. The critical path is never loose.
std::vector<bool> looseItems(const Level& level, const Adjacency& adjacency,
                             const std::vector<uint32_t>& order, const std::vector<uint32_t>& rank)
{
    const uint32_t deepest = *std::max_element(rank.begin(), rank.end());
    std::vector<uint32_t> latest(rank.size(), deepest);
    for (size_t k = order.size(); k-- > 0;)
        for (uint32_t i = adjacency.outStart[order[k]]; i < adjacency.outStart[order[k] + 1]; ++i) {
            const uint32_t reader = Adjacency::target(level.edges[adjacency.out[i]]);
            latest[order[k]] = std::min(latest[order[k]], latest[reader] - 1);
        }
    std::vector<bool> isLoose(rank.size());
    for (const uint32_t item : order) {
        bool all =
            latest[item] > rank[item] && adjacency.outStart[item] < adjacency.outStart[item + 1];
        for (uint32_t i = adjacency.inStart[item]; all && i < adjacency.inStart[item + 1]; ++i)
            all = isLoose[Adjacency::source(level.edges[adjacency.in[i]])];
        isLoose[item] = all;
    }
    return isLoose;
}

void pullDown(const Level& level, const Adjacency& adjacency, const std::vector<uint32_t>& order,
              const std::vector<bool>& isLoose, std::vector<uint32_t>& rank)
{
    for (size_t k = order.size(); k-- > 0;) {
        const uint32_t item = order[k];
        if (level.items[item].pin != RankPin::Free) continue;
        uint32_t readers = 0, lowest = std::numeric_limits<uint32_t>::max();
        for (uint32_t i = adjacency.outStart[item]; i < adjacency.outStart[item + 1]; ++i) {
            const LevelEdge& edge = level.edges[adjacency.out[i]];
            lowest = std::min(lowest, rank[Adjacency::target(edge)]);
            readers += edge.isStub ? 0 : 1;
        }
        uint32_t holders = 0;
        for (uint32_t i = adjacency.inStart[item]; i < adjacency.inStart[item + 1]; ++i) {
            const LevelEdge& edge = level.edges[adjacency.in[i]];
            holders += edge.isStub || isLoose[Adjacency::source(edge)] ? 0 : 1;
        }
        const bool shouldFollow = isLoose[item] || readers > holders;
        if (readers > 0 && shouldFollow && lowest > rank[item] + 1) rank[item] = lowest - 1;
    }
}

} // namespace

Ranking rankItems(Level& level)
{
    if (level.items.empty()) return {};
    const std::vector<uint32_t> order = topologicalOrder(level);
    const Adjacency adjacency(level);
    std::vector<uint32_t> rank(level.items.size());
    const bool hasTop = std::any_of(level.items.begin(), level.items.end(),
                                    [](const LevelItem& i) { return i.pin == RankPin::Top; });
    uint32_t deepest = 0;
    for (const uint32_t item : order) {
        uint32_t lowest = hasTop && level.items[item].pin != RankPin::Top ? 1 : 0;
        for (uint32_t i = adjacency.inStart[item]; i < adjacency.inStart[item + 1]; ++i)
            lowest = std::max(lowest, rank[Adjacency::source(level.edges[adjacency.in[i]])] + 1);
        rank[item] = lowest;
        deepest = std::max(deepest, lowest);
    }
    bool isDeepestFree = false;
    for (uint32_t i = 0; i < rank.size(); ++i)
        isDeepestFree |= rank[i] == deepest && level.items[i].pin != RankPin::Bottom;
    for (uint32_t i = 0; i < rank.size(); ++i)
        if (level.items[i].pin == RankPin::Bottom) rank[i] = deepest + (isDeepestFree ? 1 : 0);
    std::vector<bool> isLoose = looseItems(level, adjacency, order, rank);
    pullDown(level, adjacency, order, isLoose, rank);
    return {std::move(rank), std::move(isLoose)};
}

} // namespace tenon::core
