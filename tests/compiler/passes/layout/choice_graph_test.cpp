// SPDX-License-Identifier: Apache-2.0
// Choices by elimination cost what the best of all choices does, as long as no node has three
// neighbours left, and never more than what they start from.
#include "compiler/passes/layout/choice_graph.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tenon::compiler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double leastCost(const ChoiceGraph& graph, size_t options)
{
    std::vector<size_t> choice(graph.size(), 0);
    double best = kNever;
    for (;;) {
        best = std::min(best, graph.costOf(choice));
        size_t digit = 0;
        while (digit < choice.size() && ++choice[digit] == options) choice[digit++] = 0;
        if (digit == choice.size()) return best;
    }
}

struct Random
{
    std::mt19937 engine;

    size_t below(size_t limit) { return engine() % limit; }
    double cost() { return below(12) == 0 ? kNever : static_cast<double>(below(100)); }
};

ChoiceGraph randomGraph(Random& random, size_t nodes, size_t options, size_t pairs)
{
    ChoiceGraph graph;
    for (size_t i = 0; i < nodes; ++i) {
        std::vector<double> costs(options);
        for (double& cost : costs) cost = static_cast<double>(random.below(50));
        graph.addNode(costs);
    }
    for (size_t p = 0; p < pairs; ++p) {
        const size_t a = p < nodes - 1 ? p : random.below(nodes);
        const size_t b = p < nodes - 1 ? p + 1 : random.below(nodes);
        for (size_t i = 0; i < options; ++i)
            for (size_t j = 0; j < options; ++j)
                graph.addPair(a, b, i, j, i == j ? 1 : random.cost());
    }
    return graph;
}

TEST(ChoiceGraph, findsTheBestAlongChainsAndRings)
{
    Random random{std::mt19937(1)};
    for (int round = 0; round < 200; ++round) {
        const size_t nodes = 2 + random.below(6);
        ChoiceGraph graph = randomGraph(random, nodes, 3, nodes - 1);
        if (round % 2 == 1)
            for (size_t i = 0; i < 3; ++i) graph.addPair(nodes - 1, 0, i, i, 17);
        const std::vector<size_t> start(nodes, 0);
        EXPECT_DOUBLE_EQ(graph.costOf(graph.solve(start)), leastCost(graph, 3)) << round;
    }
}

TEST(ChoiceGraph, neverGetsWorseThanItsStart)
{
    Random random{std::mt19937(2)};
    for (int round = 0; round < 200; ++round) {
        const size_t nodes = 5 + random.below(20);
        const ChoiceGraph graph = randomGraph(random, nodes, 4, 3 * nodes);
        const std::vector<size_t> start(nodes, random.below(4));
        const std::vector<size_t> choice = graph.solve(start);
        EXPECT_LE(graph.costOf(choice), graph.costOf(start));
        EXPECT_EQ(choice, graph.solve(start)) << "the same again";
    }
}

TEST(ChoiceGraph, keepsForbiddenOptionsOut)
{
    ChoiceGraph graph;
    const size_t a = graph.addNode({0, kNever, 5});
    const size_t b = graph.addNode({3, 0});
    graph.addPair(a, b, 0, 1, kNever);
    graph.addPair(b, a, 0, 0, 1);
    graph.addPair(a, a, 2, 2, 10);
    EXPECT_EQ(graph.solve({2, 1}), (std::vector<size_t>{0, 0}));
}

} // namespace
} // namespace tenon::compiler
