// SPDX-License-Identifier: Apache-2.0
// minimalloc's challenging instances: published solutions pass the checker, planners stay in
// bounds.
#include "compiler/memory/check_plan.h"
#include "compiler/memory/plan_csv.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Instance
{
    const char* name;
    size_t buffers;
    int64_t bound;
};

const Instance kInstances[] = {
    {"A", 154, 1048576}, {"B", 170, 1048576}, {"C", 203, 1039360}, {"D", 213, 986112},
    {"E", 215, 1048576}, {"F", 296, 1048576}, {"G", 308, 1048576}, {"H", 316, 1048576},
    {"I", 374, 1048576}, {"J", 409, 989184},  {"K", 454, 1048576},
};

PlanCsv readCsv(const std::string& path)
{
    const core::Result<std::string> text = core::readFile(path);
    EXPECT_TRUE(text);
    core::Result<PlanCsv> csv = readPlanCsv(*text);
    EXPECT_TRUE(csv) << csv.error().text();
    return std::move(*csv);
}

std::string instancePath(const char* name)
{
    return test::dataPath("minimalloc/" + std::string(name) + ".1048576.csv");
}

TEST(Minimalloc, LowerBoundsAreThePublishedOnes)
{
    TENON_NEED_DATA("minimalloc")
    for (const Instance& instance : kInstances) {
        const PlanCsv csv = readCsv(instancePath(instance.name));
        EXPECT_EQ(csv.problem.buffers.size(), instance.buffers) << instance.name;
        EXPECT_EQ(lowerBound(csv.problem), instance.bound) << instance.name;
    }
}

TEST(Minimalloc, CheckerAcceptsPublishedSolutionsAndSeesAShiftedBuffer)
{
    TENON_NEED_DATA("minimalloc/solutions")
    for (const Instance& instance : kInstances) {
        const PlanCsv csv = readCsv(
            test::dataPath("minimalloc/solutions/out." + std::string(instance.name) + ".csv"));
        ASSERT_TRUE(csv.offsets) << instance.name;
        PlanningProblem problem = csv.problem;
        problem.pools[0].sizeHintBytes = 1048576;
        MemoryPlan plan;
        for (const int64_t offset : *csv.offsets) plan.placements.push_back({0, offset});
        EXPECT_TRUE(checkPlan(problem, plan).empty()) << instance.name;
        // The tightest instances have no byte to spare, so a shift by one must show.
        plan.placements.front().offset += 1;
        const bool isTight = instance.bound == 1048576;
        EXPECT_TRUE(!isTight || !checkPlan(problem, plan).empty()) << instance.name;
    }
}

TEST(Minimalloc, EveryPlannerStaysAboveTheBoundAndHillClimbNearIt)
{
    TENON_NEED_DATA("minimalloc")
    for (const Instance& instance : kInstances) {
        const PlanCsv csv = readCsv(instancePath(instance.name));
        int64_t smallestGreedy = INT64_MAX;
        for (const PlannerDef& planner : allPlanners()) {
            if (planner.name == "exact") continue; // has tests of its own
            const core::Result<MemoryPlan> plan = planMemory(planner.name, csv.problem);
            ASSERT_TRUE(plan) << instance.name << " " << planner.name;
            EXPECT_EQ(plan->lowerBoundBytes, instance.bound);
            EXPECT_GE(plan->totalBytes(), instance.bound) << instance.name << planner.name;
            if (planner.name.starts_with("greedy"))
                smallestGreedy = std::min(smallestGreedy, plan->totalBytes());
            if (planner.name == "hill_climb") {
                EXPECT_LE(plan->totalBytes(), smallestGreedy) << instance.name;
                EXPECT_LE(plan->totalBytes(), instance.bound * 13 / 10) << instance.name;
            }
        }
    }
}

TEST(Minimalloc, ExactSolvesEveryInstanceToCapacityTheSameWayEveryTime)
{
    TENON_NEED_DATA("minimalloc")
    for (const Instance& instance : kInstances) {
        PlanningProblem problem = readCsv(instancePath(instance.name)).problem;
        problem.pools[0].sizeHintBytes = 1048576;
        const PlannerLimits limits{.nodes = 300000};
        const core::Result<MemoryPlan> plan = planMemory("exact", problem, limits);
        ASSERT_TRUE(plan) << instance.name << ": " << plan.error().text();
        EXPECT_LE(plan->totalBytes(), 1048576) << instance.name;
        EXPECT_TRUE(checkPlan(problem, *plan).empty()) << instance.name;
        EXPECT_EQ(plan->isOptimal, plan->totalBytes() == instance.bound) << instance.name;
        EXPECT_EQ(plan->placements, planMemory("exact", problem, limits)->placements);
    }
}

TEST(Minimalloc, ExactSaysWhenThePoolIsSmallerThanTheBound)
{
    TENON_NEED_DATA("minimalloc")
    PlanningProblem problem = readCsv(instancePath("A")).problem;
    problem.pools[0].sizeHintBytes = 1048575;
    EXPECT_FALSE(planMemory("exact", problem, {.nodes = 20000}));
}

TEST(Minimalloc, ExactKeepsTheBestPlanWhenItsNodesRunOut)
{
    TENON_NEED_DATA("minimalloc")
    const PlanningProblem problem = readCsv(instancePath("H")).problem;
    const core::Result<MemoryPlan> plan = planMemory("exact", problem, {.nodes = 100});
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->isOptimal);
    EXPECT_LE(plan->totalBytes(), planMemory("hill_climb", problem)->totalBytes());
}

} // namespace
} // namespace tenon::compiler
