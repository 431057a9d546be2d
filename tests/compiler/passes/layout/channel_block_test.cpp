// SPDX-License-Identifier: Apache-2.0
// How weights of dense layers are packed, for one thread and for several.
#include "compiler/codegen/back_end.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/schedule/rules/register_tile.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TargetFacts withThreads(unsigned threads)
{
    TargetFacts facts;
    facts.threads = threads;
    return facts;
}

/// 32 registers of 16 lanes.
TargetFacts sapphireRapids()
{
    const auto target = core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
    EXPECT_TRUE(target);
    const auto machine = machineSpec(*target);
    EXPECT_TRUE(machine);
    const auto facts = targetFacts(*machine);
    EXPECT_TRUE(facts);
    return *facts;
}

TEST(ChannelBlock, ThreadsShareRowsThatTilesDivide)
{
    EXPECT_TRUE(canShareRows(1024, withThreads(2)));
    EXPECT_TRUE(canShareRows(56, withThreads(4)));
    EXPECT_FALSE(canShareRows(1024, withThreads(1))) << "nobody to share them with";
    EXPECT_FALSE(canShareRows(197, withThreads(2))) << "an odd row is left";
    EXPECT_FALSE(canShareRows(34, withThreads(2))) << "17 rows have no tiles of equal height";
}

TEST(ChannelBlock, WeightsAreNoWiderThanATile)
{
    TargetFacts few;
    few.vectorBytes = 32;
    few.vectorRegisters = 16;
    few.floatMacs = 16;
    constexpr int64_t kLanes = 8, kManyPositions = 48, kTwo = 2;
    EXPECT_EQ(floatWeightBlock(128, kLanes, kManyPositions, false, few), 2 * kLanes);
    EXPECT_EQ(floatWeightBlock(128, kLanes, kTwo, false, few), 4 * kLanes)
        << "a tile takes all of it";
    EXPECT_EQ(floatWeightBlock(200, kLanes, kManyPositions, false, few), 5 * kLanes);
    EXPECT_EQ(floatWeightBlock(200, kLanes, kManyPositions, true, few), kLanes)
        << "tiles of several blocks leave a rest";
    const TargetFacts many = sapphireRapids();
    EXPECT_EQ(floatWeightBlock(2048, 16, 49, false, many), 32) << "tiles of two, by seven";
    EXPECT_EQ(floatWeightBlock(64, 16, 6, false, many), 64) << "tiles of four, by six";
}

TEST(ChannelBlock, ColumnsThatFillNoVectorsAreAMatrixWhereRowsAreShared)
{
    constexpr int kLanes = 16;
    const DenseLayer layer{312, 1024, 312 * 1200 * 4}, odd{312, 1023, 312 * 1200 * 4};
    EXPECT_EQ(denseBlock(layer, kLanes, withThreads(1)), 312);
    EXPECT_EQ(denseBlock(layer, kLanes, withThreads(2)), 312);
    EXPECT_EQ(denseBlock(odd, kLanes, withThreads(2)), 8) << "threads share blocks";
}

TEST(ChannelBlock, OutputsAreFilledUpWhereWholeVectorsGainMoreThanTheCopy)
{
    constexpr int kLanes = 16;
    const auto filled = [](int64_t outputs, int64_t rows, int64_t depth) {
        return denseOutputs({outputs, rows, outputs * depth * 4}, kLanes, withThreads(1));
    };
    EXPECT_EQ(filled(30522, 1, 768), 30528);
    EXPECT_EQ(filled(30522, 128, 768), 30528);
    EXPECT_EQ(filled(2600, 280, 650), 2624) << "163 vectors have no tiles";
    EXPECT_EQ(filled(2600, 1, 650), 2624) << "waits for its weights, in one run";
    EXPECT_EQ(filled(1000, 1, 512), 1008);
    EXPECT_EQ(filled(100, 1, 64), 100) << "a kernel more takes longer";
    EXPECT_EQ(filled(2600, 280, 8), 2600) << "copies more than it computes";
    EXPECT_EQ(filled(300, 32, 784), 320) << "copies no panels of a matrix";
    EXPECT_EQ(filled(300, 16, 784), 320);
    EXPECT_EQ(filled(312, 128, 312), 312) << "copies more of the result than of the matrix";
    EXPECT_EQ(filled(1, 128, 312), 1);
}

TEST(ChannelBlock, WeightsOfFewRowsLieInOneRun)
{
    TargetFacts facts;
    facts.vectorRegisters = 32;
    EXPECT_EQ(denseWeightBlock({4096, 1, 0}, 16, facts), 128);
    EXPECT_EQ(denseWeightBlock({4096, 3, 0}, 16, facts), 128);
    EXPECT_EQ(denseWeightBlock({48, 1, 0}, 16, facts), 48);
    EXPECT_EQ(denseWeightBlock({384, 197, 4 * 384 * 1536}, 16, sapphireRapids()), 48)
        << "a tile's lines";
    EXPECT_EQ(denseWeightBlock({384, 197, 4 * 384 * 1536}, 8, facts), 8) << "half a line";
    EXPECT_EQ(denseWeightBlock({4096, 64, 0}, 4, facts), 16) << "pairs of short vectors";
    EXPECT_EQ(denseWeightBlock({4096, 1, 0, true}, 16, facts), 16) << "any number of rows";
    facts.vectorRegisters = 16;
    EXPECT_EQ(denseWeightBlock({4096, 1, 0}, 8, facts), 64);
    EXPECT_EQ(denseWeightBlock({4096, 2, 0}, 8, facts), 8) << "three rows fill the registers";
}

} // namespace
} // namespace tenon::compiler
