// SPDX-License-Identifier: Apache-2.0
// Whether weights or pixels of a convolution come from behind the second-level cache again.
#include "compiler/schedule/rules/conv_steps.h"

#include <gtest/gtest.h>

using namespace tenon::compiler;

namespace {

ConvShape pointwise(int64_t inChannels, int64_t outChannels, int64_t side)
{
    ConvShape shape{};
    shape.lanes = shape.inLanes = 16;
    shape.outBlocks = outChannels / 16;
    shape.rows = shape.columns = side;
    shape.vectors = 4;
    shape.weightBytes = 4 * inChannels * outChannels;
    shape.inputPositionBytes = 4 * inChannels;
    shape.inputPositions = side * side;
    shape.isPointwise = true;
    return shape;
}

bool leaves(const ConvShape& shape)
{
    TargetFacts facts;
    facts.l2Bytes = 1 << 20;
    return leavesCache(shape, {.vectors = 4, .positions = 7}, facts);
}

TEST(ConvSteps, WeightsStayWhereABlockAndTheNextHaveRoom)
{
    EXPECT_FALSE(leaves(pointwise(1024, 256, 28)));
    EXPECT_FALSE(leaves(pointwise(512, 512, 14))); // nor do the pixels leave
}

/// 64 filters of 2,048 channels are half of the cache.
TEST(ConvSteps, WeightsPassOverStepsWhereABlockHasNoRoomBesideTheNext)
{
    EXPECT_TRUE(leaves(pointwise(2048, 512, 28)));
    EXPECT_FALSE(leaves(pointwise(2048, 64, 28))); // there is no next one
}

TEST(ConvSteps, WeightsPassOverStepsWhereTheyAreLessThanThePixels)
{
    EXPECT_TRUE(leaves(pointwise(512, 1024, 28)));
}

} // namespace
