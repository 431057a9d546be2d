// SPDX-License-Identifier: Apache-2.0
// How many positions of a register tile leave room for weights and inputs.
#include "compiler/schedule/rules/register_tile.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr TargetFacts kAvx2{.vectorBytes = 32, .vectorRegisters = 16, .hasFma = true};

TEST(RegisterTile, OneVectorLeavesRoomForAnInputThatIsLoadedAhead)
{
    EXPECT_EQ(mostPositions(1, kAvx2), 13);
    EXPECT_EQ(mostPositions(2, kAvx2), 6);
    EXPECT_EQ(mostPositions(3, kAvx2), 4);
}

TEST(RegisterTile, CoresWithoutVectorsLoadNothingAhead)
{
    constexpr TargetFacts kCortexM{.vectorBytes = 4, .vectorRegisters = 8, .loads = 1};
    EXPECT_EQ(mostPositions(1, kCortexM), 6);
    constexpr TargetFacts kScalar{.vectorBytes = 4};
    EXPECT_EQ(mostPositions(1, kScalar), 14);
}

TEST(RegisterTile, InputsInMemoryTakeNoRegister)
{
    EXPECT_EQ(mostPositions(1, kAvx2, true), 15);
    TargetFacts avx512 = kAvx2;
    avx512.vectorRegisters = 32;
    EXPECT_EQ(mostPositions(1, avx512), 30);
    EXPECT_EQ(mostPositions(2, avx512, true), 15);
}

TEST(RegisterTile, TilesOfGroupsOfEightChannelsFitTheRegisters)
{
    const RegisterTile tile = chooseTile({.vectors = 1, .positions = 28}, kAvx2);
    EXPECT_EQ(tile.vectors, 1);
    EXPECT_LE(tile.positions, 13);
    EXPECT_GE(tile.positions, 7);
}

/// 4 x 2 sums would take all that the second-level cache delivers.
TEST(RegisterTile, WeightsBehindTheFirstCacheAreReadForManyPositions)
{
    TargetFacts facts = kAvx2;
    facts.floatMacs = 16;
    facts.loads = 2;
    facts.sumLatency = 4;
    facts.issueWidth = 4;
    TileSpace space{.vectors = 4, .positions = 64};
    EXPECT_EQ(chooseTile(space, facts).vectors, 4);
    space.vectorBytes = 2048 * int64_t{facts.vectorBytes};
    const RegisterTile tile = chooseTile(space, facts);
    EXPECT_LE(tile.vectors, 2);
    EXPECT_GE(tile.positions, 4);
}

TEST(RegisterTile, BlocksThatNothingDividesLeaveARestToTheLastTile)
{
    constexpr TargetFacts kTwoProducts{
        .vectorBytes = 32, .vectorRegisters = 16, .hasFma = true, .floatMacs = 16, .loads = 2};
    for (const int64_t blocks : {7, 11, 13, 23}) {
        TileSpace space{.vectors = blocks, .positions = 196};
        EXPECT_EQ(chooseTile(space, kTwoProducts).vectors, 1) << blocks;
        const double byOne = stepCyclesOfAll(space, kTwoProducts);
        space.hasRest = true;
        const RegisterTile tile = chooseTile(space, kTwoProducts);
        EXPECT_GE(tile.vectors, 2) << blocks;
        EXPECT_LE(tile.vectors * tile.positions, 13) << "no more sums than registers";
        EXPECT_LT(stepCyclesOfAll(space, kTwoProducts), 0.95 * byOne) << blocks;
    }
}

} // namespace
} // namespace tenon::compiler
