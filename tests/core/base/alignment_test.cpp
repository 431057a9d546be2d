// SPDX-License-Identifier: Apache-2.0
// Entries of two lists side by side.
#include "core/base/alignment.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

using Rows = std::vector<AlignedRow>;

TEST(Alignment, KeepsTheOrderOfBoth)
{
    EXPECT_EQ(aligned({"a", "b", "c"}, {"a", "b", "c"}), (Rows{{0, 0}, {1, 1}, {2, 2}}));
    EXPECT_EQ(aligned({"a", "c"}, {"a", "b", "c"}), (Rows{{0, 0}, {-1, 1}, {1, 2}}));
    EXPECT_EQ(aligned({}, {"a"}), (Rows{{-1, 0}}));
    EXPECT_EQ(aligned({}, {}), Rows());
}

TEST(Alignment, PairsWhatRepeats)
{
    EXPECT_EQ(aligned({"a", "a", "b"}, {"a", "b"}).size(), 3u);
    EXPECT_EQ(aligned({"a", "a"}, {"a", "a"}), (Rows{{0, 0}, {1, 1}}));
}

TEST(Alignment, GoesByPlaceWhereListsAreEndless)
{
    const std::vector<std::string> first(5000, "a"), second(5001, "b");
    const Rows rows = aligned(first, second);
    ASSERT_EQ(rows.size(), 5001u);
    EXPECT_EQ(rows[4999], (AlignedRow{4999, 4999}));
    EXPECT_EQ(rows[5000], (AlignedRow{-1, 5000}));
}

} // namespace
} // namespace tenon::core
