// SPDX-License-Identifier: Apache-2.0
// The CHECK matcher itself: each directive matches where it should and fails where it should.
#include "tests/support/check.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

constexpr const char* kOutput = "alpha one\n"
                                "  beta   two\n"
                                "gamma three four\n"
                                "delta five\n";

TEST(Check, findsTextInOrder)
{
    EXPECT_EQ(checkFailure(kOutput, "CHECK: alpha\nCHECK: gamma\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: gamma\nCHECK: alpha\n"), "");
}

TEST(Check, refusesTextWithoutDirectives) { EXPECT_NE(checkFailure(kOutput, "alpha\n"), ""); }

TEST(Check, takesBlanksAsOneAndEverythingElseLiterally)
{
    EXPECT_EQ(checkFailure(kOutput, "CHECK: beta two\n"), "");
    EXPECT_EQ(checkFailure("f(x)[1] + *p;\n", "CHECK: f(x)[1] + *p;\n"), "");
    EXPECT_NE(checkFailure("fx\n", "CHECK: f.\n"), "");
}

TEST(Check, wantsNextOnTheNextLineOnly)
{
    EXPECT_EQ(checkFailure(kOutput, "CHECK: alpha\nCHECK-NEXT: beta\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: alpha\nCHECK-NEXT: gamma\n"), "");
}

TEST(Check, wantsSameInTheRestOfTheLine)
{
    EXPECT_EQ(checkFailure(kOutput, "CHECK: gamma\nCHECK-SAME: four\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: three\nCHECK-SAME: gamma\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: gamma\nCHECK-SAME: five\n"), "");
}

TEST(Check, forbidsBetweenMatchesAndUpToTheEnd)
{
    EXPECT_EQ(checkFailure(kOutput, "CHECK: beta\nCHECK-NOT: alpha\nCHECK: delta\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: alpha\nCHECK-NOT: beta\nCHECK: gamma\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK: gamma\nCHECK-NOT: five\n"), "");
    EXPECT_NE(checkFailure(kOutput, "CHECK-NOT: alpha\n"), "");
}

TEST(Check, capturesAndRepeats)
{
    const char* code = "v7 = load(p)\nstore(q, v7)\n";
    EXPECT_EQ(checkFailure(code, "CHECK: [[x:v[0-9]+]] = load\nCHECK-NEXT: store(q, [[x]])\n"), "");
    EXPECT_EQ(checkFailure(code, "CHECK: load([[x:[pq]]])\nCHECK: store(q\n"), "");
    EXPECT_EQ(checkFailure("i = 3\na[b[3]]\n", "CHECK: i = [[i:[0-9]+]]\nCHECK: a[b[[[i]]]]\n"),
              "");
    EXPECT_NE(checkFailure(code, "CHECK: [[x:v[0-9]+]] = load\nCHECK: store([[x]]\n"), "");
    EXPECT_NE(checkFailure(code, "CHECK: store([[unknown]]\n"), "");
}

} // namespace
} // namespace tenon::test
