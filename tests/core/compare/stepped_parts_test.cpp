// SPDX-License-Identifier: Apache-2.0
// Counts that chance explains, and a channel that it does not.
#include "core/compare/stepped_parts.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(SteppedParts, CountsWhatChanceLeaves)
{
    // The least k whose tail is below 10^-9, summed in another language.
    EXPECT_EQ(mostByChance(0), 0);
    EXPECT_EQ(mostByChance(0.001), 2);
    EXPECT_EQ(mostByChance(0.1), 6);
    EXPECT_EQ(mostByChance(1), 11);
    EXPECT_EQ(mostByChance(100), 166);
    EXPECT_EQ(mostByChance(10000), 10600);
}

/// 8 channels of 100 elements; `count` differ in channel 3.
std::vector<bool> inOneChannel(int count)
{
    std::vector<bool> out(800);
    for (int i = 0; i < count; ++i) out[static_cast<size_t>(300 + 7 * i % 100)] = true;
    return out;
}

TEST(SteppedParts, FindsAChannelThatDiffersMoreOften)
{
    // By chance 0.1 of a channel's elements, 0.8 of all.
    EXPECT_FALSE(isBeyondChance(inOneChannel(6), {1, 8, 10, 10}, 0.001));
    EXPECT_TRUE(isBeyondChance(inOneChannel(7), {1, 8, 10, 10}, 0.001));
    // As many all over the tensor are what chance leaves.
    std::vector<bool> spread(800);
    for (size_t i = 0; i < 7; ++i) spread[i * 114] = true;
    EXPECT_FALSE(isBeyondChance(spread, {1, 8, 10, 10}, 0.001));
}

TEST(SteppedParts, FindsTheWholeTensorThatDiffersMoreOften)
{
    std::vector<bool> all(800);
    for (size_t i = 0; i < 800; i += 40) all[i] = true;
    EXPECT_TRUE(isBeyondChance(all, {800}, 0.001));
    EXPECT_FALSE(isBeyondChance(all, {800}, 0.03));
    EXPECT_FALSE(isBeyondChance(std::vector<bool>(800), {800}, 0));
    EXPECT_FALSE(isBeyondChance({}, {0, 3}, 0));
}

} // namespace
} // namespace tenon::core
