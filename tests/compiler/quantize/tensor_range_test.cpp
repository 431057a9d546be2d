// SPDX-License-Identifier: Apache-2.0
// Histograms and the ranges that follow from them, held against the values themselves.
#include "compiler/quantize/tensor_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tenon::compiler {
namespace {

std::vector<float> bell(size_t count, double mean, uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 1) * 0x1p-53; };
    std::vector<float> out;
    for (size_t i = 0; i < count; ++i)
        out.push_back(static_cast<float>(mean + std::sqrt(-2 * std::log(uniform())) *
                                                    std::cos(6.283185307179586 * uniform())));
    return out;
}

ValueHistogram histogramOf(const std::vector<float>& values)
{
    ValueHistogram out;
    EXPECT_EQ(out.add(values), -1);
    return out;
}

double measuredError(const std::vector<float>& values, const LinearRange& range)
{
    double sum = 0;
    for (const float value : values) {
        const double error = static_cast<double>(value) - range.rounded(static_cast<double>(value));
        sum += error * error;
    }
    return sum / static_cast<double>(values.size());
}

TEST(ValueHistogram, CountsTheSameHoweverItHadToWiden)
{
    std::vector<float> small = bell(1000, 0.1, 1), large{-900, 17, 0, 0};
    ValueHistogram widened, wideAtOnce;
    widened.add(small);
    widened.add(large);
    wideAtOnce.add(large);
    wideAtOnce.add(small);
    EXPECT_EQ(widened.count(), 1004);
    EXPECT_EQ(widened.least(), -900);
    EXPECT_EQ(widened.greatest(), 17);
    const auto a = widened.bins(), b = wideAtOnce.bins();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].centre, b[i].centre);
        EXPECT_EQ(a[i].count, b[i].count);
    }
}

TEST(ValueHistogram, CountsInPartsAndBeyondARange)
{
    std::vector<float> values;
    for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i) / 100 - 2);
    ValueHistogram seen;
    EXPECT_TRUE(seen.counts(4).empty());
    ASSERT_EQ(seen.add(values), -1);
    const std::vector<int64_t> counts = seen.counts(4);
    ASSERT_EQ(counts.size(), 4u);
    int64_t all = 0;
    for (const int64_t count : counts) {
        EXPECT_NEAR(static_cast<double>(count), 250, 3);
        all += count;
    }
    EXPECT_EQ(all, 1000);
    EXPECT_NEAR(seen.shareBeyond(-1, 7), 0.2, 0.005);
    EXPECT_EQ(seen.shareBeyond(-2, 8), 0);
}

TEST(ValueHistogram, RefusesWhatIsNotFinite)
{
    ValueHistogram seen;
    const std::vector<float> values{1, 2, std::numeric_limits<float>::quiet_NaN()};
    EXPECT_EQ(seen.add(values), 2);
    EXPECT_EQ(seen.count(), 0);
}

TEST(TensorRange, HoldsZeroExactlyAndTheEndsWithinHalfAStep)
{
    for (const DataType dtype : {kInt8, kUInt8, kInt16, kUInt16}) {
        const LinearRange range = linearRange(-0.3, 5.1, dtype, false);
        EXPECT_EQ(range.rounded(0), 0) << dtype.text();
        EXPECT_NEAR(range.least(), -0.3, static_cast<double>(range.scale) / 2) << dtype.text();
        EXPECT_NEAR(range.greatest(), 5.1, static_cast<double>(range.scale) / 2) << dtype.text();
    }
    const LinearRange positive = linearRange(2, 5.1, kInt8, false);
    EXPECT_EQ(positive.zero, -128) << "0 belongs to the range though nothing was below 2";
    const LinearRange symmetric = linearRange(-0.3, 5.1, kInt8, true);
    EXPECT_EQ(symmetric.zero, 0);
    EXPECT_NEAR(static_cast<double>(symmetric.scale), 5.1 / 127, 1e-6);
    EXPECT_EQ(linearRange(-1, 1, kUInt8, true).zero, 128);
}

TEST(TensorRange, ForetellsTheErrorOfRounding)
{
    for (const double mean : {0.0, 3.0}) {
        std::vector<float> values = bell(50000, mean, 7);
        for (size_t i = 0; i < values.size(); i += 3) values[i] = 0;
        const ValueHistogram seen = histogramOf(values);
        for (const DataType dtype : {kInt8, kInt16}) {
            const LinearRange whole = linearRange(seen.least(), seen.greatest(), dtype, false);
            const double measured = measuredError(values, whole);
            EXPECT_NEAR(meanSquareError(seen, whole), measured, 0.05 * measured);
            const LinearRange clipped = linearRange(-1, 1, dtype, false);
            const double lost = measuredError(values, clipped);
            EXPECT_NEAR(meanSquareError(seen, clipped), lost, 0.02 * lost);
        }
    }
}

TEST(TensorRange, LeavesOutAnOutlierWhereTheMethodSaysSo)
{
    std::vector<float> values = bell(100000, 0, 3);
    values[500] = 400;
    const ValueHistogram seen = histogramOf(values);
    RangeOptions options{.method = RangeMethod::MinMax};
    const LinearRange all = chooseRange(seen, options);
    EXPECT_NEAR(all.greatest(), 400, 2);
    for (const RangeMethod method : {RangeMethod::Percentile, RangeMethod::Entropy}) {
        options.method = method;
        const LinearRange some = chooseRange(seen, options);
        EXPECT_LT(some.greatest(), 8) << nameOf(method);
        EXPECT_GT(some.greatest(), 2) << nameOf(method);
    }
    options.method = RangeMethod::Percentile;
    options.percentile = 98;
    EXPECT_NEAR(chooseRange(seen, options).greatest(), 2.33, 0.1) << "1 % at each end";
    EXPECT_NEAR(chooseRange(seen, options).least(), -2.33, 0.1);
}

TEST(TensorRange, ClipsTailsButNoPeak)
{
    // What stands in front of a sigmoid: nearly all values far from zero.
    std::vector<float> values;
    for (int i = 0; i < 20000; ++i)
        values.push_back(static_cast<float>(-8 + std::sin(i * 0.7) + 0.5 * std::cos(i * 1.3)));
    for (int i = 0; i < 200; ++i) values.push_back(static_cast<float>(i) / 50);
    ValueHistogram seen;
    ASSERT_EQ(seen.add(values), -1);
    for (const RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse}) {
        const LinearRange range = chooseRange(seen, {.method = method});
        EXPECT_LT(seen.shareBeyond(range.least(), range.greatest()), 0.02) << nameOf(method);
        EXPECT_GT(expectedSqnrDb(seen, range), 25) << nameOf(method);
    }
}

TEST(TensorRange, FindsNoSmallerSquareErrorThanMse)
{
    std::vector<float> values = bell(50000, 0.5, 11);
    for (float& value : values) value = value * value * value;
    const ValueHistogram seen = histogramOf(values);
    RangeOptions options;
    options.method = RangeMethod::Mse;
    const double best = measuredError(values, chooseRange(seen, options));
    for (const RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy}) {
        options.method = method;
        EXPECT_LE(best, measuredError(values, chooseRange(seen, options)) * 1.02) << nameOf(method);
    }
}

TEST(TensorRange, TakesATensorOfZerosForWhatItIs)
{
    const ValueHistogram seen = histogramOf({0, 0, 0});
    for (const RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse}) {
        const LinearRange range = chooseRange(seen, {.method = method});
        EXPECT_EQ(range.rounded(0), 0);
        EXPECT_GT(range.scale, 0);
        EXPECT_EQ(expectedSqnrDb(seen, range), 200);
    }
}

TEST(TensorRange, KnowsItsMethodsByName)
{
    for (const RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse})
        EXPECT_EQ(rangeMethodOf(nameOf(method)), method);
    EXPECT_FALSE(rangeMethodOf("best"));
}

} // namespace
} // namespace tenon::compiler
