// SPDX-License-Identifier: Apache-2.0
// Bounds of dimensions: reading, and ranges of what is computed from them.
#include "core/tensor/dim_bounds.h"
#include "core/tensor/dim_products.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const SizeBounds kBounds{{"n", {1, 8}}, {"s", {4, 16}}};

DimBounds range(const std::string& text)
{
    const auto dim = parseDim(text);
    EXPECT_TRUE(dim) << text;
    return rangeOf(*dim, kBounds).value_or(DimBounds{-1, -1});
}

TEST(DimBounds, ReadsNumbersAndRanges)
{
    EXPECT_EQ(parseBounds("4"), (DimBounds{4, 4}));
    EXPECT_EQ(parseBounds("1..8"), (DimBounds{1, 8}));
    for (const char* bad : {"", "..", "8..1", "1..", "..8", "-1..2", "1...2", "a..b"})
        EXPECT_FALSE(parseBounds(bad)) << bad;
    EXPECT_EQ(boundsText({1, 8}), "1..8");
    EXPECT_EQ(boundsText({3, 3}), "3");
}

TEST(DimBounds, FollowsArithmetic)
{
    EXPECT_EQ(range("2*n + 1"), (DimBounds{3, 17}));
    EXPECT_EQ(range("s - n"), (DimBounds{-4, 15}));
    EXPECT_EQ(range("n*s"), (DimBounds{4, 128}));
    EXPECT_EQ(range("((s + 1) // 2)"), (DimBounds{2, 8}));
    EXPECT_EQ(range("(n min s)"), (DimBounds{1, 8}));
    EXPECT_EQ(range("(n max 4)"), (DimBounds{4, 8}));
    EXPECT_EQ(range("7"), (DimBounds{7, 7}));
    EXPECT_EQ(range("((n - s) // 2)"), (DimBounds{-8, 2})) << "rounds to minus infinity";
    EXPECT_EQ(range("((n - s) // n)"), (DimBounds{-15, 4}));
    EXPECT_EQ(mostElements({*parseDim("n"), Dim(3), *parseDim("s - 2")}, kBounds), 8 * 3 * 14);
    EXPECT_EQ(mostElements({Dim(3), *parseDim("n - 20")}, kBounds), 0) << "never less than none";
}

TEST(DimBounds, HasNoRangeForADivisorThatMayBeZero)
{
    EXPECT_FALSE(rangeOf(*parseDim("(s // (n - 1))"), kBounds));
}

TEST(DimBounds, KnowsNothingOfOtherSymbols)
{
    EXPECT_FALSE(rangeOf(Dim::symbol("m"), kBounds));
    EXPECT_FALSE(rangeOf(Dim::symbol("m") * Dim(0) + Dim::symbol("n") * Dim::symbol("m"), kBounds));
    EXPECT_FALSE(mostElements({Dim(3), Dim::symbol("m")}, kBounds));
}

TEST(DimProducts, WritesADivisionAsItIsMeant)
{
    const Dim n = Dim::symbol("n");
    const Dim half = floorDiv(n - Dim(1), Dim(2)) + Dim(1);
    EXPECT_EQ(half.text(), "((n + 1) // 2)");
    EXPECT_EQ(*parseDim(half.text()), half);
    EXPECT_EQ(floorDiv(Dim(3) * n, Dim(2)).text(), "(3*n // 2)");
    EXPECT_EQ(*parseDim("3*(n - 1)"), Dim(3) * n - Dim(3));
    EXPECT_FALSE(parseDim("()"));
    EXPECT_TRUE(parseDim(std::string(100000, '(') + "n" + std::string(100000, ')')));
}

TEST(DimQuotients, HaveOneTextForEqualSizes)
{
    const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
    Dim padded = n, pooled = n;
    for (int i = 0; i < 5; ++i) {
        padded = floorDiv(padded - Dim(1), Dim(2)) + Dim(1);
        pooled = floorDiv(pooled, Dim(2));
    }
    EXPECT_EQ(padded.text(), "((n + 31) // 32)");
    EXPECT_EQ(pooled.text(), "(n // 32)");
    EXPECT_EQ(floorDiv(Dim(32) * n + Dim(31), Dim(32)), n);
    EXPECT_EQ(floorDiv(Dim(6) * n + Dim(4) * m + Dim(3), Dim(4)),
              m + floorDiv(Dim(3) * n + Dim(1), Dim(2)));
    EXPECT_EQ(floorDiv(n, Dim(-2)), floorDiv(Dim(-1) * n, Dim(2)));
    EXPECT_EQ(floorDiv(n, m).text(), "(n // m)");
    EXPECT_EQ(floorDiv(floorDiv(n, Dim(int64_t{1} << 30)), Dim(int64_t{1} << 30)).text(),
              "((n // 1073741824) // 1073741824)");
}

TEST(DimQuotients, AreThoseOfNumbers)
{
    const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
    const auto valueOf = [](const Dim& dim, int64_t a, int64_t b) {
        const auto range = rangeOf(dim, {{"n", {a, a}}, {"m", {b, b}}});
        return range && range->isOne() ? range->low : INT64_MIN;
    };
    const auto floored = [](int64_t a, int64_t b) {
        return a / b - (a % b != 0 && (a < 0) != (b < 0));
    };
    for (int64_t step = 1; step < 5; ++step)
        for (int64_t divisor : {-2, 1, 2, 3, 4, 6})
            for (int64_t more = -7; more < 8; ++more) {
                const Dim once = floorDiv(Dim(step) * n + Dim(2) * m + Dim(more), Dim(3));
                const Dim twice = floorDiv(Dim(step - 2) * once + Dim(more), Dim(divisor));
                for (const int64_t a : {-5, 0, 1, 6, 31})
                    for (const int64_t b : {-1, 4}) {
                        const int64_t first = floored(step * a + 2 * b + more, 3);
                        ASSERT_EQ(valueOf(once, a, b), first);
                        ASSERT_EQ(valueOf(twice, a, b), floored((step - 2) * first + more, divisor))
                            << twice.text() << " of " << a << " and " << b;
                    }
            }
}

TEST(DimProducts, ReadsOperationsBack)
{
    const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
    EXPECT_EQ(minimum(n, n + Dim(2)), n);
    EXPECT_EQ(maximum(n, n + Dim(2)), n + Dim(2));
    EXPECT_EQ(minimum(n, m), minimum(m, n));
    const Dim nested = floorDiv(Dim(3) * maximum(n, m) + Dim(1), Dim(2)) * n;
    EXPECT_EQ(*parseDim(nested.text()), nested);
    const auto operation = operationOf(minimum(n, m).text());
    ASSERT_TRUE(operation);
    EXPECT_EQ(operation->kind, DimOperation::Minimum);
    EXPECT_FALSE(operationOf("n"));
}

TEST(DimBounds, TellsWhatStandsBesideSymbols)
{
    const Dim n = Dim::symbol("n");
    EXPECT_EQ(factorOf(Dim(64) * n), 64);
    EXPECT_EQ(factorOf(Dim(7)), 7);
    EXPECT_EQ(factorOf(n * Dim::symbol("m")), 1);
}

} // namespace
} // namespace tenon::core
