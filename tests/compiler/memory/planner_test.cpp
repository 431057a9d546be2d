// SPDX-License-Identifier: Apache-2.0
// The planners and the checker on problems small enough to know the answer.
#include "compiler/memory/check_plan.h"
#include "compiler/memory/memory_plan.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

BufferInfo buffer(std::string name, int64_t size, int first, int last, int64_t alignment = 1)
{
    return {.name = std::move(name),
            .sizeBytes = size,
            .alignment = alignment,
            .first = first,
            .last = last};
}

TEST(Planner, UnknownNamesListTheCandidates)
{
    const core::Result<MemoryPlan> plan = planMemory("simulated_annealing", makeProblem({}));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().message, "no memory planner `simulated_annealing`; planners are "
                                    "greedy_by_size, greedy_by_conflicts, hill_climb, exact, "
                                    "linear_scan");
}

TEST(Planner, EveryPlannerTakesNoBuffers)
{
    for (const PlannerDef& planner : allPlanners())
        EXPECT_EQ(planMemory(planner.name, makeProblem({}))->totalBytes(), 0) << planner.name;
}

TEST(Planner, EveryPlannerAlignsMixedAlignments)
{
    const PlanningProblem problem =
        makeProblem({buffer("a", 3, 0, 9, 1), buffer("b", 100, 0, 5, 64), buffer("c", 7, 2, 9, 16),
                     buffer("d", 50, 6, 9, 256), buffer("e", 1, 1, 7, 8)});
    for (const PlannerDef& planner : allPlanners()) {
        const MemoryPlan plan = *planMemory(planner.name, problem);
        EXPECT_TRUE(checkPlan(problem, plan).empty()) << planner.name;
        EXPECT_GE(plan.totalBytes(), plan.lowerBoundBytes) << planner.name;
    }
}

TEST(Planner, PoolsAreTriedInOrderOfPreference)
{
    PlanningProblem problem =
        makeProblem({buffer("a", 60, 0, 1), buffer("b", 60, 0, 1), buffer("c", 10, 0, 1)},
                    {{"sram", 100}, {"dram", Pool::kUnlimited}});
    problem.buffers[2].pools = {1};
    for (const PlannerDef& planner : allPlanners()) {
        const MemoryPlan plan = *planMemory(planner.name, problem);
        EXPECT_EQ(plan.placements[2].pool, 1) << planner.name;
        EXPECT_NE(plan.placements[0].pool, plan.placements[1].pool) << planner.name;
    }
}

TEST(Planner, LinearScanTakesTheSmallestGapAndMergesFreedOnes)
{
    // a, b, c lie one behind the other; b ends, then a: d must fit the merged gap.
    const PlanningProblem problem =
        makeProblem({buffer("a", 30, 0, 2), buffer("b", 20, 0, 1), buffer("c", 10, 0, 9),
                     buffer("d", 50, 3, 9), buffer("e", 5, 4, 9)});
    const MemoryPlan plan = *planMemory("linear_scan", problem);
    EXPECT_EQ(plan.placements[0].offset, 0);
    EXPECT_EQ(plan.placements[1].offset, 30);
    EXPECT_EQ(plan.placements[2].offset, 50);
    EXPECT_EQ(plan.placements[3].offset, 0);
    EXPECT_EQ(plan.placements[4].offset, 60);
    EXPECT_EQ(plan.totalBytes(), plan.lowerBoundBytes);
}

TEST(Planner, ExactProvesAPlanThatLiesAboveTheBound)
{
    // The third buffer makes the bound count bytes, but two aligned ones leave a gap.
    const PlanningProblem problem =
        makeProblem({{.name = "a", .sizeBytes = 5, .alignment = 4},
                     {.name = "b", .sizeBytes = 5, .alignment = 4},
                     {.name = "c", .sizeBytes = 1, .alignment = 1, .first = 1, .last = 1}});
    const core::Result<MemoryPlan> plan = planMemory("exact", problem);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->lowerBoundBytes, 10);
    EXPECT_EQ(plan->totalBytes(), 13);
    EXPECT_TRUE(plan->isOptimal);
    EXPECT_FALSE(planMemory("hill_climb", problem)->isOptimal);
}

TEST(Planner, HillClimbIsDeterministic)
{
    std::vector<BufferInfo> buffers;
    for (int i = 0; i < 60; ++i)
        buffers.push_back(buffer("b" + std::to_string(i), 1 + (i * 7919) % 1000, (i * 31) % 50,
                                 (i * 31) % 50 + i % 13));
    const PlanningProblem problem = makeProblem(buffers);
    EXPECT_EQ(planMemory("hill_climb", problem)->placements,
              planMemory("hill_climb", problem)->placements);
}

TEST(Planner, HillClimbComesWithinTwoPercentOnResidualNetworks)
{
    // A ResNet-18-like line of activations with shortcuts, and a U-Net-like one with long skips.
    const auto network = [](bool hasLongSkips) {
        std::vector<BufferInfo> buffers;
        int64_t size = 64 * 112 * 112 * 4;
        const int layers = 40;
        for (int i = 0; i < layers; ++i) {
            int last = i + 1;
            if (!hasLongSkips && i % 2 == 0) last = i + 3;
            if (hasLongSkips && i < layers / 2) last = layers - i;
            buffers.push_back(
                buffer("act" + std::to_string(i), size, i, std::min(last, layers), 64));
            if (i % 8 == 7) size = hasLongSkips && i > layers / 2 ? size * 2 : size / 2;
        }
        return makeProblem(buffers);
    };
    for (const bool hasLongSkips : {false, true}) {
        const MemoryPlan plan = *planMemory("hill_climb", network(hasLongSkips));
        EXPECT_LE(static_cast<double>(plan.totalBytes()),
                  1.02 * static_cast<double>(plan.lowerBoundBytes));
    }
}

TEST(Checker, SeesEveryKindOfFault)
{
    PlanningProblem problem =
        makeProblem({buffer("a", 10, 0, 1, 8), buffer("b", 10, 1, 2, 8)}, {{"p", 32}, {"q", 32}});
    problem.buffers[1].pools = {0};
    const auto faultsOf = [&](Placement a, Placement b) {
        std::string all;
        MemoryPlan plan;
        plan.placements = {a, b};
        for (const core::Diagnostic& fault : checkPlan(problem, plan)) all += fault.message + "\n";
        return all;
    };
    EXPECT_EQ(faultsOf({0, 0}, {0, 16}), "");
    EXPECT_EQ(faultsOf({0, 0}, {0, 8}), "buffer `a` overlaps `b`\n");
    EXPECT_EQ(faultsOf({0, 16}, {0, 8}), "buffer `a` overlaps `b`\n");
    EXPECT_EQ(faultsOf({1, 0}, {0, 0}), "");
    EXPECT_EQ(faultsOf({0, 0}, {1, 0}), "buffer `b` lies in a pool that is no candidate\n");
    EXPECT_EQ(faultsOf({0, 24}, {0, 0}), "buffer `a` ends behind its pool's 32 bytes\n");
    EXPECT_EQ(faultsOf({0, 12}, {0, 0}), "buffer `a` is misaligned at 12\n");
    EXPECT_EQ(faultsOf({-1, 0}, {0, 0}), "buffer `a` lies in no pool\n");
}

} // namespace
} // namespace tenon::compiler
