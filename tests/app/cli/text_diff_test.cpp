// SPDX-License-Identifier: Apache-2.0
// The line diff of `tenon passes --diff`.
#include "app/cli/text_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace tenon::cli {
namespace {

TEST(TextDiff, MarksLinesAndShortensWhatIsEqual)
{
    EXPECT_EQ(textDiff("a\nb\nc", "a\nx\nc"), "  a\n- b\n+ x\n  c\n");
    EXPECT_EQ(textDiff("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7"), "  ...\n  3\n  4\n  5\n- 6\n+ 7\n");
    EXPECT_EQ(textDiff("a\nb", "a\nb"), "  ...\n");
}

/// Applying the shown lines of a short diff must give both texts back.
TEST(TextDiff, HoldsBothTexts)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::string before, after;
        for (int i = 0; i < 5; ++i) {
            const std::string line(1, static_cast<char>('a' + random() % 3));
            if (random() % 4) before += line + "\n";
            if (random() % 4) after += line + "\n";
        }
        std::istringstream lines(textDiff(before, after));
        std::string first, second, line;
        bool isWhole = true;
        while (std::getline(lines, line)) {
            if (line == "  ...") isWhole = false;
            if (line[0] != '+') first += line.substr(2) + "\n";
            if (line[0] != '-') second += line.substr(2) + "\n";
        }
        if (!isWhole) continue;
        EXPECT_EQ(first, before + "\n");
        EXPECT_EQ(second, after + "\n");
    }
}

} // namespace
} // namespace tenon::cli
