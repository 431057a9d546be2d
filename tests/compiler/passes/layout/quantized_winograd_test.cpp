// SPDX-License-Identifier: Apache-2.0
// When int8 convolutions go by Winograd's method, and when they are exact then.
#include "compiler/passes/layout/quantized_winograd.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// As of a Cortex-A72, which adds up pairs of products of bytes.
constexpr TargetFacts kPairs{
    .vectorRegisters = 32, .hasFma = true, .hasLaneOperand = true, .floatMacs = 4, .byteMacs = 6};

Tensor filters(int64_t channels, int8_t value)
{
    return Tensor::of(kInt8, {1, channels, 3, 3},
                      std::vector<int8_t>(static_cast<size_t>(9 * channels), value));
}

TEST(QuantizedWinograd, IsForProcessorsWithoutDotProducts)
{
    const ConvolutionSize size{1, 64, 64, 56, 56};
    EXPECT_TRUE(isCheaperByWinograd(size, kPairs));
    TargetFacts dots = kPairs;
    dots.byteMacs = 16;
    EXPECT_FALSE(isCheaperByWinograd(size, dots));
    TargetFacts noLanes = kPairs;
    noLanes.hasLaneOperand = false;
    EXPECT_FALSE(isCheaperByWinograd(size, noLanes));
}

TEST(QuantizedWinograd, LeavesFewPixelsAndFewChannelsAlone)
{
    EXPECT_FALSE(isCheaperByWinograd({1, 512, 512, 1, 1}, kPairs)) << "one pixel";
    EXPECT_FALSE(isCheaperByWinograd({1, 4, 4, 56, 56}, kPairs)) << "transforms are all there is";
    EXPECT_TRUE(isCheaperByWinograd({1, 16, 16, 32, 32}, kPairs));
}

TEST(QuantizedWinograd, HasTilesForTwoTapsAndForOneAxis)
{
    const ConvolutionSize phase{.batch = 1,
                                .inChannels = 64,
                                .outChannels = 64,
                                .rows = 32,
                                .columns = 32,
                                .kernel = {2, 2}};
    EXPECT_FALSE(integerTile(phase, kPairs).isDirect());
    ConvolutionSize mixed = phase;
    mixed.kernel = {3, 2};
    EXPECT_EQ(integerTile(mixed, kPairs).rows, 4);
    ConvolutionSize rows = phase;
    rows.kernel = {1, 3};
    EXPECT_EQ(integerTile(rows, kPairs), (WinogradTile{1, 4})) << "along one axis";
    rows.kernel = {1, 5};
    EXPECT_EQ(integerTile(rows, kPairs), (WinogradTile{1, 4}));
    ConvolutionSize strided = phase;
    strided.kernel = {1, 3};
    strided.stride = {1, 2};
    EXPECT_EQ(integerTile(strided, kPairs).rows, 1) << "of two phases";
    strided.kernel = {5, 5};
    strided.stride = {1, 1};
    EXPECT_EQ(integerTile(strided, kPairs), (WinogradTile{1, 4})) << "both would leave 16 bits";
}

TEST(QuantizedWinograd, IsExactWhereSumsStayBelow2To25)
{
    // 9 * 227 * 128 * 128 is 33472512, and 2^25 is 33554432.
    EXPECT_TRUE(isExactByWinograd(filters(227, -128), {{4, 4}}));
    EXPECT_FALSE(isExactByWinograd(filters(228, -128), {{4, 4}}));
    EXPECT_TRUE(isExactByWinograd(filters(4000, 7), {{4, 4}}));
}

TEST(QuantizedWinograd, WritesPointsInBlocks)
{
    std::vector<int8_t> w(2 * 4 * 9, 0);
    w[(1 * 4 + 2) * 9 + 4] = -128; // the middle of filter 1 of channel 2
    const Tensor points = winogradWeightOfBytes(Tensor::of(kInt8, {2, 4, 3, 3}, w), {{4, 4}}, 4, 2);
    ASSERT_EQ(points.shape(), (std::vector<int64_t>{1, 6, 6, 1, 4, 2}));
    const int64_t line[] = {0, -4, 4, 2, -2, 0};
    for (int64_t at = 0; at < points.size(); ++at) {
        const bool isIt = at % 2 == 1 && at / 2 % 4 == 2;
        EXPECT_EQ(points.integer(at), isIt ? -128 * line[at / 48] * line[at / 8 % 6] : 0) << at;
    }
}

} // namespace
} // namespace tenon::compiler
