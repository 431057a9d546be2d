// SPDX-License-Identifier: Apache-2.0
// Rows per step: what fits, shared evenly.
#include "compiler/schedule/row_strips.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr int64_t kL2 = int64_t{2} << 20;

TargetFacts withThreads(int threads)
{
    TargetFacts facts;
    facts.l2Bytes = kL2;
    facts.threads = threads;
    return facts;
}

TEST(EvenDivisor, PrefersStepsThatThreadsShareEvenly)
{
    EXPECT_EQ(evenDivisorUpTo(30, 7, withThreads(1)), 6);
    EXPECT_EQ(evenDivisorUpTo(30, 7, withThreads(2)), 5);
    EXPECT_EQ(evenDivisorUpTo(56, 8, withThreads(2)), 7) << "8 steps in place of 7";
}

TEST(EvenDivisor, TakesTheLargestWhereAnEvenOneIsLessThanHalf)
{
    EXPECT_EQ(evenDivisorUpTo(27, 9, withThreads(2)), 9);
    EXPECT_EQ(evenDivisorUpTo(7, 3, withThreads(2)), 1);
}

TEST(RowStrips, TakeWhatFitsTheCacheAndAShareForEachThread)
{
    EXPECT_EQ(rowsPerStrip(56, kL2 * 5 / 8 / 20, withThreads(1)), 14);
    EXPECT_EQ(rowsPerStrip(56, 64, withThreads(1)), 56);
    EXPECT_EQ(rowsPerStrip(56, 64, withThreads(2)), 28);
    EXPECT_EQ(rowsPerStrip(56, kL2, withThreads(1)), 1) << "not even two rows fit";
}

TEST(RowStrips, EndWithAShorterOneWhereNoDivisorComesNear)
{
    EXPECT_EQ(rowsPerStrip(55, kL2 * 5 / 8 / 18, withThreads(1)), 11);
    EXPECT_EQ(rowsPerStrip(55, kL2 * 5 / 8 / 18, withThreads(2)), 14)
        << "four strips for two threads";
    EXPECT_EQ(rowsPerStrip(53, kL2 * 5 / 8 / 18, withThreads(1)), 18) << "a prime number of rows";
}

} // namespace
} // namespace tenon::compiler
