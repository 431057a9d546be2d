// SPDX-License-Identifier: Apache-2.0
// The figures that TVM's own planner tests expect, and the cases where ours must differ.
#include "compiler/memory/check_plan.h"
#include "compiler/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

struct Named
{
    std::string name;
    int64_t size;
    std::vector<std::string> conflicts;
    std::vector<int> pools = {};
};

/// A problem given by conflict lists, as TVM's tests write it.
PlanningProblem fromConflicts(const std::vector<Named>& named, int64_t alignment,
                              std::vector<Pool> pools = {Pool{}})
{
    PlanningProblem problem{.pools = std::move(pools), .hasLifetimes = false};
    std::map<std::string, int> index;
    for (const Named& n : named) {
        index.emplace(n.name, static_cast<int>(problem.buffers.size()));
        problem.buffers.push_back(
            {.name = n.name, .sizeBytes = n.size, .alignment = alignment, .pools = n.pools});
    }
    for (const Named& n : named) {
        problem.conflicts.emplace_back();
        for (const std::string& other : n.conflicts)
            problem.conflicts.back().push_back(index.at(other));
    }
    return problem;
}

int64_t bytes(const char* algorithm, const PlanningProblem& problem)
{
    const core::Result<MemoryPlan> plan = planMemory(algorithm, problem);
    EXPECT_TRUE(plan) << algorithm << ": " << plan.error().text();
    return plan ? plan->totalBytes() : -1;
}

TEST(Usmp, BreaksTiesByNameLargerFirst)
{
    std::vector<BufferInfo> buffers;
    for (const char* name : {"a", "b", "c"})
        buffers.push_back({.name = name, .sizeBytes = 10, .alignment = 1, .first = 0, .last = 1});
    const PlanningProblem problem = makeProblem(buffers);
    for (const PlannerDef& planner : allPlanners()) {
        const MemoryPlan plan = *planMemory(planner.name, problem);
        EXPECT_EQ(plan.placements[2].offset, 0) << planner.name;
        EXPECT_EQ(plan.placements[1].offset, 10) << planner.name;
        EXPECT_EQ(plan.placements[0].offset, 20) << planner.name;
    }
}

TEST(Usmp, PlansALinearChain)
{
    std::vector<BufferInfo> buffers;
    int point = 0;
    for (const auto& [name, size] : std::vector<std::pair<const char*, int64_t>>{
             {"a", 10}, {"b", 20}, {"c", 100}, {"d", 40}, {"e", 50}, {"f", 50}}) {
        buffers.push_back(
            {.name = name, .sizeBytes = size, .alignment = 1, .first = point, .last = point + 1});
        ++point;
    }
    const PlanningProblem problem = makeProblem(buffers);
    EXPECT_EQ(lowerBound(problem), 140);
    for (const char* algorithm : {"greedy_by_size", "greedy_by_conflicts", "hill_climb"})
        EXPECT_EQ(bytes(algorithm, problem), 140) << algorithm;
    // Program order cannot know that a smaller buffer should have left room for c.
    EXPECT_EQ(bytes("linear_scan", problem), 170);
}

TEST(Usmp, PlansAFanOut)
{
    const PlanningProblem problem = fromConflicts({{"a", 10, {"b", "c"}},
                                                   {"b", 20, {"a", "c", "e"}},
                                                   {"c", 100, {"e", "a", "b", "d"}},
                                                   {"d", 40, {"b", "f", "c", "e"}},
                                                   {"e", 50, {"c", "f", "b", "d"}},
                                                   {"f", 60, {"d", "e", "f"}},
                                                   {"g", 70, {"f"}}},
                                                  1);
    EXPECT_EQ(bytes("greedy_by_size", problem), 190);
    EXPECT_EQ(bytes("greedy_by_conflicts", problem), 320);
    EXPECT_EQ(bytes("hill_climb", problem), 190);
}

TEST(Usmp, PlansTheMobilenetFragmentOverTwoPools)
{
    const std::vector<Pool> pools = {{"fast", 200704}, {"slow", Pool::kUnlimited}};
    const PlanningProblem problem =
        fromConflicts({{"sid_8", 802816, {"PaddedInput_7", "Conv2dOutput_7", "tensor_2"}},
                       {"PaddedInput_7", 314646, {"sid_9", "sid_8", "Conv2dOutput_7"}},
                       {"sid_9", 301056, {"PaddedInput_7"}},
                       {"tensor_2", 200704, {"sid_8"}},
                       {"Conv2dOutput_7", 256, {"sid_8", "PaddedInput_7"}}},
                      16, pools);
    for (const char* algorithm : {"greedy_by_size", "greedy_by_conflicts", "hill_climb"}) {
        const MemoryPlan plan = *planMemory(algorithm, problem);
        EXPECT_EQ(plan.peakBytes[0], 200704) << algorithm;
        EXPECT_EQ(plan.peakBytes[1],
                  std::string_view(algorithm) == "hill_climb" ? 1117462 : 1418528)
            << algorithm;
    }
}

/// The ResNet fragment with the lifetimes of its loops: a shortcut (sid_2) that waits for the end
/// while three convolutions run; each pads its input at one point and convolves at the next.
PlanningProblem resnetFragment()
{
    const auto buffer = [](const char* name, int64_t size, int first, int last) {
        return BufferInfo{
            .name = name, .sizeBytes = size, .alignment = 16, .first = first, .last = last};
    };
    return makeProblem({
        buffer("sid_2", 720000, 0, 7),
        buffer("PaddedInput", 720000, 1, 2),
        buffer("Conv2dOutput", 256, 2, 2),
        buffer("sid_8", 720000, 2, 3),
        buffer("PaddedInput_1", 758912, 3, 4),
        buffer("Conv2dOutput_1", 256, 4, 4),
        buffer("sid_7", 720000, 4, 5),
        buffer("PaddedInput_2", 720000, 5, 6),
        buffer("Conv2dOutput_2", 256, 6, 6),
        buffer("sid_6", 5760000, 6, 8),
        buffer("PaddedInput_3", 720000, 7, 8),
        buffer("Conv2dOutput_3", 256, 8, 8),
    });
}

TEST(Usmp, PlansTheResnetFragment)
{
    const PlanningProblem problem = resnetFragment();
    EXPECT_EQ(lowerBound(problem), 7200256);
    EXPECT_EQ(bytes("greedy_by_size", problem), 7920256);
    EXPECT_EQ(bytes("greedy_by_conflicts", problem), 7200256);
    EXPECT_EQ(bytes("hill_climb", problem), 7200256);
}

TEST(Usmp, SaysWhichBufferFoundNoRoom)
{
    std::vector<BufferInfo> buffers;
    for (const char* name : {"a", "b", "c"})
        buffers.push_back({.name = name, .sizeBytes = 10, .alignment = 1});
    const PlanningProblem problem = makeProblem(buffers, {{"small", 10}});
    for (const PlannerDef& planner : allPlanners()) {
        const core::Result<MemoryPlan> plan = planMemory(planner.name, problem);
        ASSERT_FALSE(plan) << planner.name;
        EXPECT_EQ(plan.error().code, core::DiagnosticCode::OutOfMemory);
        EXPECT_NE(plan.error().message.find("TVM USMP Error: the space available in the provided "
                                            "pools exceeded when trying to allocate the buffer"),
                  std::string::npos);
        EXPECT_NE(plan.error().message.find("Please increase the size_hints for memory pools."),
                  std::string::npos);
    }
}

TEST(Usmp, APoolOnceRuledOutStaysRuledOut)
{
    // TVM places C at P@60, over B: the conflict with A re-admits the pool that B had ruled out.
    const PlanningProblem problem =
        fromConflicts({{"A", 60, {"B", "C"}}, {"B", 30, {"A", "C"}}, {"C", 25, {"B", "A"}}}, 1,
                      {{"P", 100}, {"Q", Pool::kUnlimited}});
    for (const char* algorithm : {"greedy_by_size", "greedy_by_conflicts", "hill_climb"}) {
        const MemoryPlan plan = *planMemory(algorithm, problem);
        EXPECT_EQ(plan.placements[2], (Placement{1, 0})) << algorithm;
    }
}

struct Interval
{
    int first;
    int last;
    int64_t size;
};

PlanningProblem fromIntervals(const std::vector<Interval>& intervals, int64_t alignment = 1)
{
    std::vector<BufferInfo> buffers;
    for (const Interval& i : intervals)
        buffers.push_back({.name = "buffer_" + std::to_string(buffers.size()),
                           .sizeBytes = i.size,
                           .alignment = alignment,
                           .first = i.first,
                           .last = i.last});
    return makeProblem(buffers);
}

TEST(Usmp, HillClimbReachesTheOptimumOfIntervalLists)
{
    const std::vector<std::vector<Interval>> lists = {
        {{0, 159, 2048}, {0, 13, 7904}, {4, 35, 16}, {12, 17, 32768}, {16, 21, 32768}},
        {{0, 11, 131072},
         {1, 8, 65536},
         {2, 3, 1024},
         {3, 9, 32768},
         {4, 6, 8192},
         {5, 20, 16384},
         {7, 12, 4096},
         {9, 15, 65536},
         {13, 18, 131072},
         {16, 20, 2048}},
        {{4, 6, 32}, {5, 7, 32}, {1, 3, 64}, {2, 8, 16}, {0, 4, 48}},
    };
    for (const std::vector<Interval>& list : lists) {
        const PlanningProblem problem = fromIntervals(list);
        EXPECT_LE(static_cast<double>(bytes("hill_climb", problem)),
                  1.05 * static_cast<double>(lowerBound(problem)));
    }
}

TEST(Usmp, LowerBoundCountsAlignmentButNoPaddingAtTheTop)
{
    EXPECT_EQ(lowerBound(fromIntervals({{0, 1, 10}, {1, 2, 20}}, 64)), 74);
    EXPECT_EQ(bytes("greedy_by_size", fromIntervals({{0, 1, 10}, {1, 2, 20}}, 64)), 74);
}

} // namespace
} // namespace tenon::compiler
