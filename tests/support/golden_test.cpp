// SPDX-License-Identifier: Apache-2.0
// Golden files read back to what was written, and TENON_REQUIRE is understood.
#include "tests/support/environment.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tenon::test {
namespace {

constexpr const char* kText = "# SPDX-License-Identifier: Apache-2.0\n"
                              "# Cases of something.\n"
                              "\n"
                              "# adds two numbers\n"
                              "1 + 2\n"
                              "# a comment of the input\n"
                              "---\n"
                              "3\n"
                              "\n"
                              "# keeps nothing\n"
                              "nothing\n"
                              "---\n";

TEST(Golden, readsHeaderTitlesInputsAndExpectations)
{
    const GoldenFile file = parseGolden(kText);
    ASSERT_EQ(file.cases.size(), 2u);
    EXPECT_EQ(file.cases[0].title, "adds two numbers");
    EXPECT_EQ(file.cases[0].input, "1 + 2\n# a comment of the input\n");
    EXPECT_EQ(file.cases[0].expected, "3\n");
    EXPECT_EQ(file.cases[0].line, 4u);
    EXPECT_EQ(file.cases[1].expected, "");
}

TEST(Golden, writesBackWhatItRead) { EXPECT_EQ(goldenText(parseGolden(kText)), kText); }

TEST(Environment, readsTheListOfRequiredTools)
{
    const char* before = std::getenv("TENON_REQUIRE");
    const std::string saved = before ? before : "";
    ::setenv("TENON_REQUIRE", "sshd, xvfb;data", 1);
    EXPECT_TRUE(isRequired("sshd"));
    EXPECT_TRUE(isRequired("xvfb"));
    EXPECT_TRUE(isRequired("data"));
    EXPECT_FALSE(isRequired("ssh"));
    ::setenv("TENON_REQUIRE", saved.c_str(), 1);
}

TEST(Environment, namesTheMissingTool)
{
    EXPECT_EQ(missingTool("sh"), "");
    EXPECT_EQ(missingTool("no-such-tool"), "SKIP: no-such-tool is not installed");
}

} // namespace
} // namespace tenon::test
