// SPDX-License-Identifier: Apache-2.0
// Orders of calls: allowed, never worse, the best one where trying all of them can tell, and quick.
#include "compiler/memory/call_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace tenon::compiler {
namespace {

/// Every call writes one buffer and reads up to three of the `reach` before it.
CallGraph randomGraph(std::mt19937& random, int calls, int reach)
{
    CallGraph graph;
    for (int call = 0; call < calls; ++call) {
        std::set<int> read;
        for (unsigned i = 0; call > 0 && i < 1 + random() % 3; ++i)
            read.insert(call - 1 -
                        static_cast<int>(random() % static_cast<unsigned>(std::min(call, reach))));
        graph.before.emplace_back(read.begin(), read.end());
        read.insert(call);
        graph.buffers.emplace_back(read.begin(), read.end());
        graph.bytes.push_back(1 + static_cast<int64_t>(random() % 100));
    }
    return graph;
}

bool isAllowed(const CallGraph& graph, const std::vector<int>& order)
{
    std::vector<bool> isDone(order.size(), false);
    for (const int call : order) {
        const std::vector<int>& before = graph.before[static_cast<size_t>(call)];
        if (isDone[static_cast<size_t>(call)] ||
            !std::all_of(before.begin(), before.end(),
                         [&](int b) { return isDone[static_cast<size_t>(b)]; }))
            return false;
        isDone[static_cast<size_t>(call)] = true;
    }
    return order.size() == graph.buffers.size();
}

std::vector<int> givenOrder(const CallGraph& graph)
{
    std::vector<int> order(graph.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

TEST(CallOrder, FindsTheLowestPeakOfSmallGraphs)
{
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round) {
        const CallGraph graph = randomGraph(random, 8, 5);
        const std::vector<int> found = orderCallsByPeak(graph);
        ASSERT_TRUE(isAllowed(graph, found)) << round;
        std::vector<int> order = givenOrder(graph);
        int64_t lowest = INT64_MAX;
        do {
            if (isAllowed(graph, order)) lowest = std::min(lowest, peakOfCalls(graph, order));
        } while (std::next_permutation(order.begin(), order.end()));
        EXPECT_EQ(peakOfCalls(graph, found), lowest) << round;
    }
}

TEST(CallOrder, IsAllowedNeverWorseAndTheSameEveryTimeOnLargerGraphs)
{
    std::mt19937 random(5);
    for (const int calls : {1, 2, 50, 400, 20000}) {
        const CallGraph graph = randomGraph(random, calls, 20);
        const std::vector<int> found = orderCallsByPeak(graph);
        EXPECT_TRUE(isAllowed(graph, found)) << calls;
        EXPECT_LE(peakOfCalls(graph, found), peakOfCalls(graph, givenOrder(graph))) << calls;
        EXPECT_EQ(found, orderCallsByPeak(graph)) << calls;
    }
}

TEST(CallOrder, PeakIsTheBoundOfItsPlanningProblem)
{
    std::mt19937 random(7);
    const CallGraph graph = randomGraph(random, 100, 10);
    const std::vector<int> order = orderCallsByPeak(graph);
    EXPECT_EQ(lowerBound(problemOfCalls(graph, order, 1)), peakOfCalls(graph, order));
}

} // namespace
} // namespace tenon::compiler
