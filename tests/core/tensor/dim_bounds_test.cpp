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
    EXPECT_EQ(half.text(), "((n - 1) // 2) + 1");
    EXPECT_EQ(*parseDim(half.text()), half);
    EXPECT_EQ(floorDiv(Dim(3) * n, Dim(2)).text(), "(3*n // 2)");
    EXPECT_EQ(*parseDim("3*(n - 1)"), Dim(3) * n - Dim(3));
    EXPECT_FALSE(parseDim("()"));
    EXPECT_TRUE(parseDim(std::string(100000, '(') + "n" + std::string(100000, ')')));
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
