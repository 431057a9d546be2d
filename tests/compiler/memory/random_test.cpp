// SPDX-License-Identifier: Apache-2.0
// Random problems: no overlap ever, never below the bound, and the optimum where brute force knows
// it.
#include "compiler/memory/check_plan.h"
#include "compiler/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tenon::compiler {
namespace {

std::vector<BufferInfo> randomBuffers(std::mt19937& random, int count, int64_t maxSize,
                                      int64_t alignment)
{
    std::vector<BufferInfo> buffers;
    for (int i = 0; i < count; ++i) {
        const int first = static_cast<int>(random() % 40);
        buffers.push_back({.name = "b" + std::to_string(i),
                           .sizeBytes = 1 + static_cast<int64_t>(random()) % maxSize,
                           .alignment = alignment,
                           .first = first,
                           .last = first + static_cast<int>(random() % 8)});
    }
    return buffers;
}

/// The optimum of a tiny problem: first fit over every order of the buffers is complete.
int64_t bruteForce(const PlanningProblem& problem)
{
    std::vector<int> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    int64_t best = INT64_MAX;
    do {
        std::vector<int64_t> offsets(order.size(), -1);
        int64_t peak = 0;
        for (const int i : order) {
            const BufferInfo& b = problem.buffers[static_cast<size_t>(i)];
            int64_t offset = 0;
            for (bool isMoved = true; isMoved;) {
                isMoved = false;
                for (size_t j = 0; j < offsets.size(); ++j) {
                    const BufferInfo& o = problem.buffers[j];
                    const bool meet = b.first <= o.last && o.first <= b.last;
                    if (offsets[j] < 0 || !meet || offset >= offsets[j] + o.sizeBytes ||
                        offset + b.sizeBytes <= offsets[j])
                        continue;
                    const int64_t end = offsets[j] + o.sizeBytes;
                    offset = (end + b.alignment - 1) / b.alignment * b.alignment;
                    isMoved = true;
                }
            }
            offsets[static_cast<size_t>(i)] = offset;
            peak = std::max(peak, offset + b.sizeBytes);
        }
        best = std::min(best, peak);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

TEST(RandomPlans, NeverOverlapInBoundedPools)
{
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const std::vector<Pool> pools = {{"bounded", 65535}, {"rest", Pool::kUnlimited}};
        const int64_t alignment = int64_t{1} << (round % 7);
        const PlanningProblem problem =
            makeProblem(randomBuffers(random, 150, 20000, alignment), pools);
        for (const PlannerDef& planner : allPlanners()) {
            if (planner.name != "linear_scan" && round % 10 != 0) continue; // slow ones
            const core::Result<MemoryPlan> plan = planMemory(planner.name, problem);
            ASSERT_TRUE(plan) << planner.name;
            EXPECT_TRUE(checkPlan(problem, *plan).empty()) << planner.name << " round " << round;
            EXPECT_LE(plan->peakBytes[0], 65535);
            EXPECT_GE(plan->totalBytes(), plan->lowerBoundBytes);
        }
    }
}

TEST(RandomPlans, StayBetweenTheOptimumAndGreedyBySize)
{
    std::mt19937 random(11);
    for (int round = 0; round < 100; ++round) {
        const PlanningProblem problem = makeProblem(randomBuffers(random, 6, 100, 1));
        const int64_t optimum = bruteForce(problem);
        EXPECT_LE(lowerBound(problem), optimum);
        const int64_t bySize = planMemory("greedy_by_size", problem)->totalBytes();
        const int64_t climbed = planMemory("hill_climb", problem)->totalBytes();
        EXPECT_LE(optimum, climbed) << round;
        EXPECT_LE(climbed, bySize) << round;
        EXPECT_LE(climbed, optimum + optimum / 10) << round;
    }
}

/// Lives among eight program points, so that most of them meet.
std::vector<BufferInfo> crowded(std::vector<BufferInfo> buffers)
{
    for (BufferInfo& buffer : buffers) {
        buffer.last = buffer.first % 8 + buffer.last - buffer.first;
        buffer.first %= 8;
    }
    return buffers;
}

TEST(RandomPlans, ExactFindsTheOptimumAndProvesIt)
{
    std::mt19937 random(13);
    for (int round = 0; round < 200; ++round) {
        const PlanningProblem problem = makeProblem(crowded(randomBuffers(random, 7, 12, 1)));
        const core::Result<MemoryPlan> plan = planMemory("exact", problem);
        ASSERT_TRUE(plan);
        EXPECT_EQ(plan->totalBytes(), bruteForce(problem)) << round;
        EXPECT_TRUE(plan->isOptimal) << round;
    }
}

TEST(RandomPlans, ExactFindsTheOptimumOfMixedAlignmentsAndProvesIt)
{
    std::mt19937 random(17);
    for (int round = 0; round < 200; ++round) {
        std::vector<BufferInfo> buffers = crowded(randomBuffers(random, 7, 12, 1));
        for (BufferInfo& buffer : buffers) buffer.alignment = int64_t{1} << (random() % 3);
        const PlanningProblem problem = makeProblem(buffers);
        const core::Result<MemoryPlan> plan = planMemory("exact", problem);
        ASSERT_TRUE(plan);
        EXPECT_TRUE(checkPlan(problem, *plan).empty()) << round;
        EXPECT_EQ(plan->totalBytes(), bruteForce(problem)) << round;
        EXPECT_TRUE(plan->isOptimal) << round;
    }
}

/// With lives that nearly all meet, and alignments that no plan can do without padding.
PlanningProblem crowdOf(int count)
{
    std::mt19937 random(19);
    std::vector<BufferInfo> buffers = crowded(randomBuffers(random, count, 1000, 1));
    for (BufferInfo& buffer : buffers) buffer.alignment = int64_t{1} << (random() % 7);
    return makeProblem(std::move(buffers));
}

TEST(RandomPlans, OfACrowdAreClimbedToInFewAttempts)
{
    // A thousand attempts would look at billions of conflicts.
    const PlanningProblem problem = crowdOf(2500);
    EXPECT_TRUE(problem.hasConflicts);
    const auto plan = planMemory("hill_climb", problem);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->algorithm, "hill_climb");
    EXPECT_LE(plan->totalBytes(), planMemory("greedy_by_size", problem)->totalBytes());
}

TEST(RandomPlans, OfMoreConflictsThanCanBeListedComeFromLifetimes)
{
    const PlanningProblem problem = crowdOf(20'000);
    EXPECT_FALSE(problem.hasConflicts);
    for (const PlannerDef& planner : allPlanners()) {
        const auto plan = planMemory(planner.name, problem);
        ASSERT_TRUE(plan) << planner.name;
        EXPECT_EQ(plan->algorithm, "linear_scan");
        EXPECT_GE(plan->totalBytes(), plan->lowerBoundBytes);
    }
}

} // namespace
} // namespace tenon::compiler
