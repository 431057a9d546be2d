// SPDX-License-Identifier: Apache-2.0
// Steps by the machine model: what fits the second-level cache, images of one set of filters
// together, a step for every thread.
#include "compiler/schedule/rules/winograd_step.h"

#include <gtest/gtest.h>

using namespace tenon::compiler;

namespace {

TargetFacts machine(unsigned threads = 1)
{
    TargetFacts facts;
    facts.vectorBytes = 64;
    facts.vectorRegisters = 32;
    facts.hasFma = facts.hasEmbeddedBroadcast = true;
    facts.floatMacs = 16;
    facts.threads = threads;
    return facts;
}

/// Channels in 16 lanes, filter blocks of `vectors`; tiles of F(4x4, 3x3).
WinogradShape shapeOf(int64_t images, int64_t side, int64_t inChannels, int64_t outChannels,
                      int64_t vectors)
{
    WinogradShape shape{.tile = {4, 4},
                        .images = images,
                        .rows = side,
                        .columns = side,
                        .points = 36,
                        .lanes = 16,
                        .outBlocks = outChannels / 16,
                        .vectors = vectors,
                        .inChannels = inChannels,
                        .groups = 1,
                        .inLanes = 16};
    return shape;
}

int64_t heldBytes(const WinogradShape& shape, const WinogradStep& step)
{
    return 4 * shape.points * step.images * step.rows * step.columns *
           (shape.inChannels + shape.vectors * shape.lanes);
}

TEST(WinogradStep, APartOfARowWhereARowIsMoreThanTheCache)
{
    const WinogradShape shape = shapeOf(1, 64, 64, 32, 2);
    const WinogradStep step = chooseWinogradStep(shape, machine());
    EXPECT_EQ(step.rows, 1);
    EXPECT_LT(step.columns, 64);
    EXPECT_EQ(64 % step.columns, 0);
    EXPECT_LE(heldBytes(shape, step), machine().l2Bytes);
}

/// Seven products of 384 inputs, 98 pairs of positions and 384 results: the data of all products
/// are more than a cache of 512 KiB, those of one are not.
TEST(WinogradStep, OneProductAfterTheOtherWhereItsDataStay)
{
    WinogradShape shape = shapeOf(1, 1, 384, 384, 2);
    shape.columns = 98;
    shape.points = 7;
    TargetFacts facts = machine();
    facts.l2Bytes = 512 << 10;
    EXPECT_FALSE(chooseWinogradStep(shape, facts).isByPoint);
    shape.mayGoByPoint = shape.areHalves = true;
    const WinogradStep step = chooseWinogradStep(shape, facts);
    EXPECT_TRUE(step.isByPoint);
    EXPECT_EQ(step.columns, 98);
    facts.threads = 2; // for each of which one is left
    const WinogradStep shared = chooseWinogradStep(shape, facts);
    EXPECT_TRUE(shared.columns < 98 || !shared.isByPoint);
    facts.l2Bytes = 8 << 20;
    EXPECT_FALSE(chooseWinogradStep(shape, facts).isByPoint);
}

/// 256 channels of four phases and nine points of 7 x 7 tiles have 1.8 MB of data, which 16 blocks
/// of filters would read again and again; those of a point are 200 KB.
TEST(WinogradStep, PointByPointWhereTheDataOfAllWouldLeaveTheCache)
{
    WinogradShape shape = shapeOf(1, 7, 1024, 256, 1);
    shape.points = 9;
    shape.mayGoByPoint = true;
    TargetFacts facts = machine();
    facts.l2Bytes = 2 << 20;
    const WinogradStep step = chooseWinogradStep(shape, facts);
    EXPECT_TRUE(step.isByPoint);
    EXPECT_EQ(step.rows, 7);
    facts.l2Bytes = 8 << 20;
    EXPECT_FALSE(chooseWinogradStep(shape, facts).isByPoint);
}

/// Two columns at a time would read all filters from the second-level cache for each two tiles.
TEST(WinogradStep, EnoughTilesForEachTimeTheFiltersPass)
{
    WinogradShape shape = shapeOf(1, 38, 64, 32, 2); // 38 = 2 x 19
    shape.tile = {6, 6};
    shape.points = 64;
    EXPECT_EQ(chooseWinogradStep(shape, machine()).columns, 19);
}

TEST(WinogradStep, FewTilesPassLargeFiltersOnce)
{
    const WinogradStep step = chooseWinogradStep(shapeOf(1, 7, 512, 512, 1), machine());
    EXPECT_EQ(step.rows, 7);
    EXPECT_EQ(step.columns, 7);
}

TEST(WinogradStep, SmallImagesPassLargeFiltersTogether)
{
    const WinogradStep step = chooseWinogradStep(shapeOf(16, 2, 512, 512, 1), machine());
    EXPECT_EQ(step.images, 16);
    EXPECT_EQ(step.rows, 2);
}

TEST(WinogradStep, ASmallerCacheGetsSmallerSteps)
{
    TargetFacts small = machine();
    small.l2Bytes = 256 << 10;
    const WinogradShape shape = shapeOf(1, 56, 64, 64, 4);
    const WinogradStep few = chooseWinogradStep(shape, small);
    const WinogradStep many = chooseWinogradStep(shape, machine());
    EXPECT_LE(few.rows * few.columns, many.rows * many.columns);
    EXPECT_LE(heldBytes(shape, few), small.l2Bytes);
}

TEST(WinogradStep, EveryThreadHasAStepOrFiltersOfItsOwn)
{
    for (const unsigned threads : {2U, 3U, 4U, 64U})
        for (const int64_t side : {1, 2, 7, 14, 56})
            for (const int64_t images : {1, 5, 8}) {
                const WinogradShape shape = shapeOf(images, side, 64, 64, 4); // one filter block
                const WinogradStep step = chooseWinogradStep(shape, machine(threads));
                const int64_t steps =
                    images / step.images * (side / step.rows) * (side / step.columns);
                EXPECT_GE(steps, std::min<int64_t>(threads, images * side))
                    << threads << " threads, " << images << " images of " << side << " rows";
            }
}

TEST(WinogradStep, OneStepWhereThreadsShareTheFilters)
{
    const WinogradStep step = chooseWinogradStep(shapeOf(1, 4, 512, 512, 1), machine(2));
    EXPECT_EQ(step.rows, 4);
    EXPECT_EQ(step.columns, 4);
}

TEST(WinogradStep, TilesOfSeveralImagesShareARegisterTileWhereThoseOfOneAreFew)
{
    const TileSpace space{.vectors = 2, .positions = 1};
    const int64_t together = imagesOfRegisterTile(16, 1, space, machine());
    EXPECT_GT(together, 1);
    EXPECT_EQ(16 % together, 0);
    EXPECT_EQ(imagesOfRegisterTile(1, 1, space, machine()), 1);
    EXPECT_EQ(imagesOfRegisterTile(16, 64, {.vectors = 2, .positions = 64}, machine()), 1);
}

} // namespace
