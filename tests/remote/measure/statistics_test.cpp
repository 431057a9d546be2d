// SPDX-License-Identifier: Apache-2.0
// Summaries of samples against values worked out by hand.
#include "remote/measure/statistics.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

TEST(Statistics, summarizesByRanks)
{
    const Summary summary = summarize({9, 1, 4, 2, 3, 5, 6, 8, 7, 100});
    EXPECT_EQ(summary.median, 5.5);
    EXPECT_EQ(summary.mad, 2.5);
    EXPECT_EQ(summary.p95, 100);
    EXPECT_EQ(summary.min, 1);
    // n = 10: ranks floor(5 - 3.1) = 1 and ceil(5 + 3.1) + 1 = 10.
    // The farther end counts for both sides, and no time is below zero.
    EXPECT_EQ(summary.half, 94.5);
    EXPECT_EQ(summary.ci95Low, 0);
    EXPECT_EQ(summary.ci95High, 100);
    EXPECT_TRUE(summary.hasInterval());
}

TEST(Statistics, takesAnyNumberOfSamples)
{
    EXPECT_EQ(summarize({}).median, 0);
    const Summary one = summarize({3});
    EXPECT_EQ(one.median, 3);
    EXPECT_EQ(one.p95, 3);
    EXPECT_EQ(one.ci95Low, 3);
    EXPECT_EQ(one.ci95High, 3);
    EXPECT_FALSE(one.hasInterval());
    std::vector<double> many;
    for (int i = 1; i <= 100; ++i) many.push_back(i);
    const Summary hundred = summarize(many);
    EXPECT_EQ(hundred.median, 50.5);
    EXPECT_EQ(hundred.p95, 95);
    EXPECT_EQ(hundred.ci95Low, 40);
    EXPECT_EQ(hundred.ci95High, 61);
    EXPECT_EQ(hundred.half, 10.5);
}

} // namespace
} // namespace tenon::remote
