// SPDX-License-Identifier: Apache-2.0
// When int8 convolutions go by Winograd's method, and when they are exact then.
#include "compiler/passes/layout/quantized_winograd.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// As of a Cortex-A72, which adds up pairs of products of bytes.
constexpr TargetFacts kPairs{.vectorRegisters = 32,
                             .hasFma = true,
                             .hasLaneOperand = true,
                             .hasHalfLanes = true,
                             .floatMacs = 4,
                             .byteMacs = 6};

/// As of a Haswell, which adds pairs of 16-bit products to sums.
constexpr TargetFacts kHalves{
    .vectorBytes = 32, .hasFma = true, .floatMacs = 16, .byteMacs = 16, .issueWidth = 4};

WinogradTile integerTile(const ConvolutionSize& size, const TargetFacts& facts)
{
    return integerForm(size, facts).tile;
}

bool isCheaperByWinograd(const ConvolutionSize& size, const TargetFacts& facts)
{
    return !integerTile(size, facts).isDirect();
}

Tensor filters(int64_t channels, int8_t value)
{
    return Tensor::of(kInt8, {1, channels, 3, 3},
                      std::vector<int8_t>(static_cast<size_t>(9 * channels), value));
}

TEST(QuantizedWinograd, IsForProcessorsWithoutDotProducts)
{
    const ConvolutionSize size{1, 64, 64, 56, 56};
    for (const TargetFacts& halves : {kPairs, kHalves}) {
        EXPECT_TRUE(isCheaperByWinograd(size, halves));
        TargetFacts dots = halves;
        dots.byteMacs = 4 * dots.floatMacs;
        EXPECT_FALSE(isCheaperByWinograd(size, dots));
    }
    TargetFacts noVectors = kHalves;
    noVectors.vectorBytes = 4;
    EXPECT_FALSE(isCheaperByWinograd(size, noVectors));
}

TEST(QuantizedWinograd, LeavesFewPixelsAndFewChannelsAlone)
{
    EXPECT_FALSE(isCheaperByWinograd({1, 512, 512, 1, 1}, kPairs)) << "one pixel";
    EXPECT_FALSE(isCheaperByWinograd({1, 4, 4, 56, 56}, kPairs)) << "transforms are all there is";
    EXPECT_TRUE(isCheaperByWinograd({1, 16, 16, 32, 32}, kPairs));
}

TEST(QuantizedWinograd, TakesNoPointsAtStridesOfFewRegisters)
{
    constexpr TargetFacts kOfArm32{
        .hasFma = true, .hasHalfLanes = true, .floatMacs = 1, .byteMacs = 2};
    const ConvolutionSize size{1, 32, 32, 14, 14, {3, 3}, {2, 2}};
    EXPECT_FALSE(isCheaperByWinograd(size, kOfArm32));
    EXPECT_TRUE(isCheaperByWinograd({1, 32, 32, 28, 28}, kOfArm32));
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
    strided.kernel = {1, 5};
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
    EXPECT_TRUE(isExactByWinograd(filters(114, -128), {{4, 4}}, 255));
    EXPECT_FALSE(isExactByWinograd(filters(115, -128), {{4, 4}}, 255)) << "of uint8";
}

TEST(QuantizedWinograd, TakesSmallerTilesWhereSumsLeaveTheBest)
{
    const ConvolutionSize size{1, 512, 1024, 13, 13};
    const Tensor weight = filters(512, 64);
    const auto isExact = [&](const WinogradTile& tile) {
        return isExactByWinograd(weight, {tile}, 255);
    };
    EXPECT_FALSE(isExact(integerTile(size, kPairs)));
    const WinogradTile tile = integerForm(size, kPairs, isExact).tile;
    ASSERT_FALSE(tile.isDirect());
    EXPECT_TRUE(isExact(tile));
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

TEST(QuantizedWinograd, CountsWordsThatAreNotFull)
{
    const auto columns = [](int64_t count) {
        const ConvolutionSize size{1, 1, 8, 28, 28, {5, count}};
        return directIntegers(size, kHalves).counted.cycles;
    };
    EXPECT_DOUBLE_EQ(columns(5), columns(8)) << "eight columns for five";
    EXPECT_LT(columns(4), columns(5));
}

TEST(QuantizedWinograd, PutsTwoChannelsIntoAWord)
{
    const Tensor points =
        Tensor::of(kInt16, {1, 1, 1, 1, 4, 2}, std::vector<int16_t>{1, -2, -3, 4, 5, 6, 7, -8});
    const Tensor pairs = inPairs(points);
    ASSERT_EQ(pairs.shape(), (std::vector<int64_t>{1, 1, 1, 1, 2, 2}));
    const auto word = [](int low, int high) { return int64_t{high} * 65536 + (low & 0xffff); };
    const int64_t expected[] = {word(1, -3), word(-2, 4), word(5, 7), word(6, -8)};
    for (int64_t at = 0; at < 4; ++at) EXPECT_EQ(pairs.integer(at), expected[at]) << at;
}

} // namespace
} // namespace tenon::compiler
