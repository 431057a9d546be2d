// SPDX-License-Identifier: Apache-2.0
// Which calls of two runs belong together.
#include "remote/history/call_changes.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

RunRecord runOf(const std::vector<RunCall>& calls)
{
    RunRecord record;
    record.calls = calls;
    return record;
}

TEST(CallChanges, PutsTheSameCallsBesideOneAnother)
{
    const auto changes = callChanges(runOf({{"a", 1}, {"b", 2}, {"a", 3}}),
                                     runOf({{"a", 10}, {"b", 20}, {"a", 30}}));
    ASSERT_EQ(changes.size(), 3u);
    EXPECT_EQ(changes[2].title, "a");
    EXPECT_EQ(changes[2].nowMs, 3);
    EXPECT_EQ(changes[2].beforeMs, 30);
}

/// A kernel that was split: what is only in one of the runs has no other time.
TEST(CallChanges, KeepsWhatOnlyOneRunHas)
{
    const auto changes = callChanges(runOf({{"a", 1}, {"x", 2}, {"y", 3}, {"c", 4}}),
                                     runOf({{"a", 10}, {"b", 20}, {"c", 40}}));
    ASSERT_EQ(changes.size(), 5u);
    double now = 0, before = 0;
    for (const CallChange& change : changes) {
        now += change.nowMs >= 0 ? change.nowMs : 0;
        before += change.beforeMs >= 0 ? change.beforeMs : 0;
        const bool isShared = change.title == "a" || change.title == "c";
        EXPECT_EQ(isShared, change.nowMs >= 0 && change.beforeMs >= 0) << change.title;
    }
    EXPECT_EQ(now, 10);
    EXPECT_EQ(before, 70);
}

TEST(CallChanges, SaysNothingWithoutTimesOfCalls)
{
    EXPECT_TRUE(callChanges(runOf({}), runOf({{"a", 1}})).empty());
    EXPECT_TRUE(callChanges(runOf({{"a", 1}}), runOf({})).empty());
}

} // namespace
} // namespace tenon::remote
