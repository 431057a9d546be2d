// SPDX-License-Identifier: Apache-2.0
// Programs that fail say why, and not first what they were doing.
#include "core/base/tool.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

std::string failureOf(const std::string& script)
{
    const auto done = runTool({"sh", "-c", script});
    EXPECT_FALSE(done);
    return done ? "" : done.error().message;
}

TEST(Tool, GivesWhatAProgramSays)
{
    const auto done = runTool({"sh", "-c", "echo one; echo two >&2"});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(*done, "one\ntwo\n");
}

TEST(Tool, QuotesTheLinesThatSayWhyItFailed)
{
    const std::string why = failureOf("echo cc -Werror -c a.c; echo cc -Werror -o image a.o; "
                                      "echo done with a.c; echo still at it; "
                                      "echo 'a.c:62: undefined reference to `rintf'\"'\"; "
                                      "echo 'ld: error: no image'; exit 1");
    EXPECT_EQ(why, "`sh` failed: a.c:62: undefined reference to `rintf'; ld: error: no image");
}

TEST(Tool, QuotesTheLastLinesWhereNoneSaysWhy)
{
    EXPECT_EQ(failureOf("echo 1; echo 2; echo 3; echo 4; exit 2"), "`sh` failed: 2; 3; 4");
    EXPECT_EQ(failureOf("exit 2"), "`sh` failed: ");
}

} // namespace
} // namespace tenon::core
