// SPDX-License-Identifier: Apache-2.0
// Pools as text, plans over several pools, and the bytes that are live at each point.
#include "compiler/memory/live_bytes.h"
#include "compiler/memory/pools.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

TEST(Pools, ReadsNamesSizesAndUnits)
{
    const auto pools = parsePools("DTCM=128KiB, SRAM=1M,spare=17,external");
    ASSERT_TRUE(pools) << pools.error().text();
    ASSERT_EQ(pools->size(), 4u);
    EXPECT_EQ((*pools)[0].name, "DTCM");
    EXPECT_EQ((*pools)[0].sizeHintBytes, 128 * 1024);
    EXPECT_EQ((*pools)[1].sizeHintBytes, 1024 * 1024);
    EXPECT_EQ((*pools)[2].sizeHintBytes, 17);
    EXPECT_EQ((*pools)[3].sizeHintBytes, Pool::kUnlimited);
    EXPECT_EQ(poolsText(*pools), "DTCM=128KiB,SRAM=1024KiB,spare=17,external");
    EXPECT_EQ(parsePools(poolsText(*pools))->size(), 4u);
    EXPECT_EQ(parsePools("  ")->size(), 1u);
}

TEST(Pools, RefusesWhatCannotBeMeant)
{
    for (const char* bad :
         {"=12", "a=", "a=-5", "a=0", "a=12 parsecs", "a,a=3", "a=1,,b", "a=99999999999999999999",
          "a=9007199254740993M", "sram:15990", "my ram=3"}) {
        const auto pools = parsePools(bad);
        ASSERT_FALSE(pools) << bad;
        EXPECT_EQ(pools.error().code, core::DiagnosticCode::BadArgument);
        EXPECT_NE(pools.error().message.find("NAME=BYTES"), std::string::npos);
    }
}

TEST(Pools, TakesTheOptionsOfTvmc)
{
    const auto pools = namedPools({.names = "DTCM,SRAM=64KiB,Ext@.ext",
                                   .targets = "DTCM:c, SRAM:c",
                                   .sizeHints = "DTCM:4096,Ext:-1",
                                   .sections = "SRAM:.sram",
                                   .clocksHz = "DTCM:400000000",
                                   .readBandwidths = "DTCM:8",
                                   .writeLatencies = "Ext:12"},
                                  "c");
    ASSERT_TRUE(pools) << pools.error().text();
    ASSERT_EQ(pools->size(), 3u);
    EXPECT_EQ((*pools)[0].sizeHintBytes, 4096);
    EXPECT_EQ((*pools)[0].clockHz, 400000000);
    EXPECT_EQ((*pools)[0].readBytesPerCycle, 8);
    EXPECT_EQ((*pools)[0].writeBytesPerCycle, -1);
    EXPECT_TRUE((*pools)[0].isCallers);
    EXPECT_EQ((*pools)[1].section, ".sram");
    EXPECT_FALSE((*pools)[1].isCallers);
    EXPECT_EQ((*pools)[2].section, ".ext");
    EXPECT_EQ((*pools)[2].sizeHintBytes, Pool::kUnlimited);
    EXPECT_EQ((*pools)[2].writeLatencyCycles, 12);
    EXPECT_EQ(poolsText(*pools), "DTCM=4KiB,SRAM=64KiB@.sram,Ext@.ext");
    EXPECT_TRUE(namedPools({}, "c")->empty());
}

TEST(Pools, RefusesOptionsThatContradictTheNames)
{
    const auto said = [](const PoolOptions& options) {
        const auto pools = namedPools(options, "c");
        return pools ? std::string() : pools.error().message;
    };
    EXPECT_NE(said({.names = "A", .sizeHints = "B:1"}).find("`B:1` is not of a pool"),
              std::string::npos);
    EXPECT_NE(said({.names = "A", .sizeHints = "A"}).find("NAME:VALUE"), std::string::npos);
    EXPECT_NE(said({.names = "A", .sizeHints = "A:x"}).find("which is no number"),
              std::string::npos);
    EXPECT_NE(said({.names = "A", .targets = "A:llvm"}).find("the model runs on `c`"),
              std::string::npos);
    EXPECT_NE(said({.names = "A@x y"}).find("section"), std::string::npos);
    EXPECT_NE(said({.names = "A", .sections = "A:;"}).find("section"), std::string::npos);
    EXPECT_NE(said({.names = "a-b,a_b"}).find("same name in C"), std::string::npos);
    EXPECT_FALSE(checkApart(*namedPools({.names = "A"}, "c"), *namedPools({.names = "a"}, "c")));
    EXPECT_TRUE(checkApart(*namedPools({.names = "A"}, "c"), *namedPools({.names = "B"}, "c")));
}

std::vector<BufferInfo> threeBuffers()
{
    return {{.name = "a", .sizeBytes = 100, .alignment = 64, .first = 0, .last = 1},
            {.name = "b", .sizeBytes = 60, .alignment = 64, .first = 1, .last = 3},
            {.name = "c", .sizeBytes = 200, .alignment = 64, .first = 3, .last = 3}};
}

TEST(LiveBytes, AreWhatEachPointCannotDoWithout)
{
    const PlanningProblem problem = makeProblem(threeBuffers());
    // Point 1: 128 + 64 less 28, the larger padding, which may lie beyond the end.
    EXPECT_EQ(liveBytes(problem), (std::vector<int64_t>{100, 164, 60, 264}));
    EXPECT_EQ(lowerBound(problem), 264);
}

TEST(LiveBytes, PeakIsTheLowerBoundForAnyPools)
{
    for (const char* text : {"one", "one=128,two", "one,two,three"}) {
        const PlanningProblem problem = makeProblem(threeBuffers(), *parsePools(text));
        const std::vector<int64_t> live = liveBytes(problem);
        EXPECT_EQ(*std::max_element(live.begin(), live.end()), lowerBound(problem)) << text;
    }
    EXPECT_TRUE(liveBytes(makeProblem({})).empty());
}

TEST(Pools, PlansSpillIntoTheNextPool)
{
    const PlanningProblem problem = makeProblem(threeBuffers(), *parsePools("fast=128,slow"));
    for (const PlannerDef& planner : allPlanners()) {
        const auto plan = planMemory(planner.name, problem);
        ASSERT_TRUE(plan) << planner.name << ": " << plan.error().text();
        EXPECT_LE(plan->peakBytes[0], 128) << planner.name;
        EXPECT_EQ(plan->placements[2].pool, 1) << planner.name;
    }
}

} // namespace
} // namespace tenon::compiler
