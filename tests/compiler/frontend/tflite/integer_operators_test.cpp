// SPDX-License-Identifier: Apache-2.0
// Operators whose integer kernels round in ways of their own, values by hand.
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;

TEST(TfliteIntegers, LeakyReluOfBytesHasRatiosOf256ths)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {4}, {{1.0F}, {0}});
    const int y = w.output("y", Type::Int8, {4}, {{1.0F}, {3}});
    w.op("LEAKY_RELU", {x}, {y}, FlatOut().number(0, 0.1F));
    // 0.1 is 26/256: -64 becomes -6.5, and halves go up, where -6.4 would become -6, too; -5 is
    // -0.51 and becomes -1 where -0.5 would become 0.
    EXPECT_EQ(numbersOf(w, {{"x", bytes({4}, {10, -64, -5, 0})}}), (Numbers{13, -3, 2, 3}));
}

TEST(TfliteIntegers, LeakyReluOfRatiosTooCoarseTakesRealValues)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {2}, {{1.0F}, {0}});
    const int y = w.output("y", Type::Int8, {2}, {{1.0F}, {0}});
    w.op("LEAKY_RELU", {x}, {y}, FlatOut().number(0, 0.0F));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({2}, {10, -64})}}), (Numbers{10, 0}));
}

/// x less half a step, of a scale of 1 and the zero point `zero`.
Numbers lessHalf(int64_t zero, float result)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {4}, {{1.0F}, {zero}});
    const int half = w.constant<int8_t>("half", Type::Int8, {1}, {1}, {{0.5F}, {0}});
    const int y = w.output("y", Type::Int8, {4}, {{result}, {zero}});
    w.op("SUB", {x, half}, {y});
    return numbersOf(w, {{"x", bytes({4}, {0, 1, -1, -2})}});
}

TEST(TfliteIntegers, SumsOfBytesRoundHalvesUp)
{
    EXPECT_EQ(lessHalf(0, 1.0F), (Numbers{0, 1, -1, -2}));
    EXPECT_EQ(lessHalf(-1, 1.0F), (Numbers{0, 1, -1, -2}));
}

TEST(TfliteIntegers, SumsOfBytesOnFarScalesTakeRealValues)
{
    EXPECT_EQ(lessHalf(0, 1.0F / 512), (Numbers{-128, 127, -128, -128}));
}

/// The mean of five bytes along the only axis.
Numbers meanOf(const TfliteScale& result, const std::vector<int8_t>& values)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {5}, {{0.5F}, {-1}});
    const int axes = w.constant<int32_t>("axes", Type::Int32, {1}, {0});
    const int y = w.output("y", Type::Int8, {1}, result);
    w.op("MEAN", {x, axes}, {y}, FlatOut().number(0, uint8_t{1}));
    return numbersOf(w, {{"x", bytes({5}, values)}});
}

TEST(TfliteIntegers, MeansOfOneScaleRoundTowardsZero)
{
    EXPECT_EQ(meanOf({{0.5F}, {-1}}, {1, 1, 1, 1, 5}), (Numbers{1}));       // 1.8
    EXPECT_EQ(meanOf({{0.5F}, {-1}}, {-1, -1, -1, -1, -5}), (Numbers{-1})); // -1.8
    EXPECT_EQ(meanOf({{1.0F}, {0}}, {1, 1, 1, 1, 5}), (Numbers{1}));        // 1.4 of another scale
}

TEST(TfliteIntegers, WidePixelsAreBlendedInStepsOf1024ths)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int16, {1, 1, 2, 1}, {{1.0F}, {0}});
    const int size = w.constant<int32_t>("size", Type::Int32, {2}, {1, 3});
    const int y = w.output("y", Type::Int16, {1, 1, 3, 1}, {{1.0F}, {0}});
    w.op("RESIZE_BILINEAR", {x, size}, {y});
    // A third is 341/1024 after 683/1024: -30000 * 341/1024 and -30000 * (2 * 683 - 1024 = 342,
    // beyond the last pixel, which is repeated).
    EXPECT_EQ(numbersOf(w, {{"x", Tensor::of<int16_t>(core::kInt16, {1, 1, 2, 1}, {0, -30000})}}),
              (Numbers{0, -20010, -30000}));
}

TEST(TfliteIntegers, SvdfLeavesTheActivationToTheRange)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 1}, {{1.0F}, {0}});
    const int f = w.constant<int8_t>("f", Type::Int8, {1, 1}, {1}, {{1.0F}, {0}});
    const int t = w.constant<int16_t>("t", Type::Int16, {1, 1}, {1}, {{1.0F}, {0}});
    const int s = w.variable("s", Type::Int16, {1, 1}, {{1.0F}, {0}});
    const int y = w.output("y", Type::Int8, {1, 1}, {{1.0F}, {10}});
    w.op("SVDF", {x, f, t, -1, s}, {y}, FlatOut().number(0, int32_t{1}).number(1, int8_t{1}));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({1, 1}, {-7})}}), (Numbers{3}));
}

} // namespace
} // namespace tenon::test
