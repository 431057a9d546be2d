// SPDX-License-Identifier: Apache-2.0
// What a board's processor has and a target leaves aside.
#include "remote/board/unused_features.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::remote {
namespace {

bool has(const std::vector<std::string>& names, const char* name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(UnusedFeatures, NamesWhatTheBoardHasAndTheTargetDoesNotUse)
{
    const char* board = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76";
    const auto unused = unusedFeatures("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", board);
    ASSERT_TRUE(unused);
    EXPECT_TRUE(has(*unused, "dotprod"));
    EXPECT_FALSE(has(*unused, "neon"));
    const auto added =
        unusedFeatures("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+dotprod", board);
    ASSERT_TRUE(added);
    EXPECT_FALSE(has(*added, "dotprod"));
    EXPECT_TRUE(unusedFeatures(board, board)->empty());
}

TEST(UnusedFeatures, DoesNotCompareDifferentMachines)
{
    EXPECT_TRUE(unusedFeatures("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake",
                               "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76")
                    ->empty());
    EXPECT_FALSE(unusedFeatures("llvm -mcpu=no-such-cpu", "llvm"));
}

} // namespace
} // namespace tenon::remote
