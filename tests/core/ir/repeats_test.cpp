// SPDX-License-Identifier: Apache-2.0
// Blocks that a sequence of kinds repeats.
#include "core/ir/repeats.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

std::vector<uint32_t> kindsOf(const char* text)
{
    std::vector<uint32_t> kinds;
    for (const char* c = text; *c; ++c) kinds.push_back(static_cast<uint32_t>(*c));
    return kinds;
}

std::vector<Repeat> repeatsIn(const char* text) { return findRepeats(kindsOf(text)); }

TEST(Repeats, FindsBlocksBehindAStemAndBeforeAHead)
{
    EXPECT_EQ(repeatsIn("stabcabcabcxy"), (std::vector<Repeat>{{2, 3, 3}}));
}

TEST(Repeats, TakesTheShortestBlockOfAStretch)
{
    EXPECT_EQ(repeatsIn("abcabcabcabc"), (std::vector<Repeat>{{0, 3, 4}}));
}

TEST(Repeats, FindsSeveralKindsOfBlocks)
{
    EXPECT_EQ(repeatsIn("abcabc--defgdefgdefg"), (std::vector<Repeat>{{0, 3, 2}, {8, 4, 3}}));
}

TEST(Repeats, IsNoBlockOfOneKindAlone)
{
    EXPECT_TRUE(repeatsIn("aaaaaaaaaaaa").empty());
    EXPECT_TRUE(repeatsIn("abcdefgh").empty());
    EXPECT_TRUE(repeatsIn("").empty());
    EXPECT_TRUE(repeatsIn("abab").empty()); // shorter than a block
}

TEST(Repeats, LeavesAnEndThatIsNoWholeBlock)
{
    const std::vector<Repeat> found = repeatsIn("abcdabcdabcdab");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].length, 4u);
    EXPECT_EQ(found[0].count, 3u);
}

} // namespace
} // namespace tenon::core
