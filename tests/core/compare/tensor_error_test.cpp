// SPDX-License-Identifier: Apache-2.0
// Errors of small tensors, worked out by hand.
#include "core/compare/tensor_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::core {
namespace {

Tensor floats(const std::vector<float>& values)
{
    return Tensor::of(kFloat32, {static_cast<int64_t>(values.size())}, values);
}

Tensor bytes(const std::vector<int8_t>& values)
{
    return Tensor::of(kInt8, {static_cast<int64_t>(values.size())}, values);
}

TensorError between(const Tensor& got, const Tensor& wanted, const ErrorLimits& limits = {})
{
    return tensorError(got, {}, wanted, {}, limits);
}

TEST(TensorError, FindsNoneBetweenEqualTensors)
{
    const TensorError error = between(floats({1, -2, NAN}), floats({1, -2, NAN}));
    EXPECT_EQ(error.sqnrDb, HUGE_VAL);
    EXPECT_EQ(error.maxAbs, 0);
    EXPECT_EQ(error.worst, -1);
    EXPECT_DOUBLE_EQ(error.cosine, 1);
    EXPECT_EQ(error.histogram[0], 3);
    EXPECT_FALSE(error.isOutside);
}

TEST(TensorError, MeasuresSignalAgainstError)
{
    const TensorError error = between(floats({3, 4, 0, 0}), floats({3, 4, 0.5F, 0}));
    EXPECT_NEAR(error.sqnrDb, 10 * std::log10(25.25 / 0.25), 1e-9);
    EXPECT_NEAR(error.rms, 0.25, 1e-12);
    EXPECT_EQ(error.worst, 2);
    EXPECT_EQ(error.worstGot, 0);
    EXPECT_EQ(error.worstWanted, 0.5);
    EXPECT_EQ(error.outside, 1);
    EXPECT_TRUE(error.isOutside);
    EXPECT_NEAR(error.cosine, 25 / (5 * std::sqrt(25.25)), 1e-12);
}

TEST(TensorError, CountsUnitsInTheLastPlaceOfTheType)
{
    const float next = std::nextafter(std::nextafter(8.0F, 9.0F), 9.0F);
    EXPECT_EQ(between(floats({next}), floats({8})).maxUlps, 2);
    const Tensor half = Tensor::of<uint16_t>(kFloat16, {1}, {floatToHalf(1.0F)});
    const Tensor above =
        Tensor::of<uint16_t>(kFloat16, {1}, {static_cast<uint16_t>(floatToHalf(1.0F) + 3)});
    EXPECT_EQ(between(above, half).maxUlps, 3);
}

TEST(TensorError, TakesWhatIsNotFiniteForInfinitelyFarOff)
{
    const TensorError error = between(floats({INFINITY, 1}), floats({1, 1}));
    EXPECT_EQ(error.maxAbs, HUGE_VAL);
    EXPECT_EQ(error.sqnrDb, -HUGE_VAL);
    EXPECT_EQ(error.histogram[kErrorBins - 1], 1);
    EXPECT_TRUE(error.isOutside);
}

TEST(TensorError, AllowsAShareOfTheElementAndOfTheLargest)
{
    const ErrorLimits limits{.relative = 1e-2, .ofLargest = 1e-3};
    EXPECT_FALSE(between(floats({100.9F, 0.09F}), floats({100, 0}), limits).isOutside);
    EXPECT_TRUE(between(floats({100, 0.11F}), floats({100, 0}), limits).isOutside);
}

TEST(TensorError, AllowsFewIntegersAStep)
{
    std::vector<int8_t> wanted(200, 5), got = wanted;
    got[0] = got[1] = got[2] = got[3] = 6;
    EXPECT_FALSE(between(bytes(got), bytes(wanted)).isOutside);
    got[4] = 4;
    EXPECT_TRUE(between(bytes(got), bytes(wanted)).isOutside) << "2.5 % are off";
    got = wanted;
    got[0] = 7;
    EXPECT_FALSE(between(bytes(got), bytes(wanted)).isOutside) << "two steps";
    got[0] = 8;
    EXPECT_TRUE(between(bytes(got), bytes(wanted)).isOutside) << "three steps";
    EXPECT_EQ(between(bytes(got), bytes(wanted)).maxUlps, 3);
}

TEST(TensorError, SpeaksInRealUnits)
{
    const QuantizedUnits units{.scales = {0.5}, .zeros = {10}};
    const TensorError error = tensorError(bytes({12, 14}), units, bytes({12, 13}), units, {});
    EXPECT_EQ(error.maxAbs, 0.5);
    EXPECT_EQ(error.worstWanted, 1.5);
    const TensorError mixed = tensorError(bytes({12, 14}), units, floats({1, 2}), {}, {});
    EXPECT_EQ(mixed.maxAbs, 0) << "integers beside floats";
}

TEST(TensorError, ScalesEveryChannelByItsOwn)
{
    const Tensor tensor = Tensor::of<int8_t>(kInt8, {2, 2, 1}, {1, 1, 2, 2});
    const QuantizedUnits units{.scales = {1, 10}, .zeros = {0, 1}, .axis = 1};
    EXPECT_EQ(units.realValues(tensor), (std::vector<double>{1, 0, 2, 10}));
}

TEST(TensorError, CountsWhatLiesAtAnEndOfItsType)
{
    const QuantizedUnits units{.scales = {1}, .zeros = {0}};
    const TensorError error =
        tensorError(bytes({127, 127, -128}), units, floats({127, 300, -128}), {}, {});
    EXPECT_EQ(error.saturated, 1) << "the first and last are what the reference has";
}

TEST(TensorError, HoldsQuantizedTensorsBesideFloatsToStepsOfTheirScale)
{
    const QuantizedUnits units{.scales = {0.1}, .zeros = {0}};
    EXPECT_FALSE(tensorError(bytes({10, 20}), units, floats({1.04F, 2}), {}, {}).isOutside);
    EXPECT_FALSE(tensorError(bytes({0, 1}), units, floats({0.04F, 0}), {}, {}).isOutside)
        << "below 0 dB, but rounding alone";
    const TensorError loud = tensorError(bytes({100, 120}), units, floats({9.2F, 12.8F}), {}, {});
    EXPECT_GT(loud.sqnrDb, 20);
    EXPECT_TRUE(loud.isOutside);
}

TEST(TensorError, HoldsIntegersWithoutAScaleBesideFloatsToDecibels)
{
    EXPECT_FALSE(tensorError(bytes({10, 20}), {}, floats({10.4F, 20}), {}, {}).isOutside);
    EXPECT_TRUE(tensorError(bytes({10, 20}), {}, floats({10.4F, 80}), {}, {}).isOutside);
}

TEST(TensorError, HoldsFloatsBesideThoseOfAnotherModelToDecibels)
{
    const ErrorLimits limits{.isOtherModel = true};
    EXPECT_FALSE(between(floats({1, 0.05F}), floats({1, 0}), limits).isOutside);
    EXPECT_TRUE(between(floats({1, 0.2F}), floats({1, 0}), limits).isOutside);
}

TEST(TensorError, AllowsHalvesMore)
{
    const auto halves = [](double value) {
        return Tensor::make(kFloat16, {2}, [&](std::span<std::byte> out) {
            storeNumber(kFloat16, out, 0, 100);
            storeNumber(kFloat16, out, 1, value);
        });
    };
    EXPECT_FALSE(between(halves(0.3), halves(0)).isOutside);
    EXPECT_TRUE(between(halves(0.5), halves(0)).isOutside);
}

TEST(TensorError, HoldsToDecibelsAlone)
{
    const ErrorLimits limits{.leastSqnrDb = 20};
    EXPECT_FALSE(between(floats({1, 0.05F}), floats({1, 0}), limits).isOutside);
    EXPECT_TRUE(between(floats({1, 0.2F}), floats({1, 0}), limits).isOutside);
}

TEST(TensorError, SortsDifferencesByDecade)
{
    const TensorError error = between(floats({1.05F, 1, 1}), floats({1, 1, 1}));
    EXPECT_EQ(error.histogram[0], 2);
    EXPECT_EQ(error.histogram[8], 1) << "below a tenth of the root mean square";
    EXPECT_EQ(errorBinText(8), "< 1e-01");
    EXPECT_EQ(errorBinText(9), "< 1");
}

TEST(TensorError, HoldsFloatsToTheRoundingOfTheirSums)
{
    const Tensor wanted = floats({1, -0.5F, 0.25F}), got = floats({1.00002F, -0.5F, 0.25F});
    EXPECT_FALSE(between(got, wanted).isOutside);
    ErrorLimits limits;
    limits.rounding = {.share = 1e-6}; // the largest of many: 14 times as much
    const TensorError error = between(got, wanted, limits);
    EXPECT_TRUE(error.isOutside);
    EXPECT_EQ(error.outside, 1);
    EXPECT_FALSE(between(floats({1.00001F, -0.5F, 0.25F}), wanted, limits).isOutside);
    limits.rounding->terms = 2e-6; // of larger numbers that cancel
    EXPECT_FALSE(between(got, wanted, limits).isOutside);
    limits = {.holdsToRounding = false, .rounding = SumRounding{.share = 1e-6}};
    EXPECT_FALSE(between(got, wanted, limits).isOutside);
}

TEST(TensorError, HoldsIntegersToTheChanceThatTheyRoundElsewhere)
{
    // Four of 400 are less than 2 %.
    std::vector<int8_t> values(400, 5);
    const auto square = [](const std::vector<int8_t>& of) {
        return Tensor::of(kInt8, {4, 100}, of);
    };
    const Tensor wanted = square(values);
    for (size_t i = 0; i < 4; ++i) values[100 + 9 * i] = 6;
    EXPECT_FALSE(between(square(values), wanted).isOutside);
    ErrorLimits limits;
    limits.rounding = {.share = 1e-7}; // 5e-5 of the elements, 0.005 of a row
    const TensorError error = between(square(values), wanted, limits);
    EXPECT_TRUE(error.isOutside);
    EXPECT_EQ(error.outside, 4);
    limits.rounding = {.share = 1e-5}; // 0.5 of a row
    EXPECT_FALSE(between(square(values), wanted, limits).isOutside);
}

} // namespace
} // namespace tenon::core
