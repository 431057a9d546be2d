// SPDX-License-Identifier: Apache-2.0
// The text helpers: what people and files see of numbers and names.
#include "core/base/printable.h"
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::core {
namespace {

TEST(Text, showsNamesOutOfFilesAsTheyAreAndNeverRunsThem)
{
    EXPECT_EQ(printable("conv1/weights: 3 × 3\n\tök"), "conv1/weights: 3 × 3\n\tök");
    EXPECT_EQ(printable("\x1b[2J\r\x07"), "\\x1b[2J\\x0d\\x07");
    EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("\xe2\x80\xaegnp.exe"), "\\u202egnp.exe");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\x9b31m");
    EXPECT_EQ(printable("a\nb", LineBreaks::Escape), "a\\x0ab");
    EXPECT_EQ(printable(std::string(1 << 20, 'n')).size(), size_t{1} << 20);
}

TEST(Text, elidesLongNames)
{
    EXPECT_EQ(elided(std::string(1024, 'n')), std::string(1024, 'n'));
    EXPECT_EQ(elided(std::string(10'000'000, 'n')),
              std::string(512, 'n') + "... (10000000 bytes) ..." + std::string(256, 'n'));
    const std::string wide = "a" + replaced(std::string(2000, '.'), ".", "\u00e9");
    EXPECT_EQ(printable(elided(wide)), elided(wide)); // no character is cut in two
    EXPECT_EQ(elidedWords("the node reads `conv 1`, which nothing produces"),
              "the node reads `conv 1`, which nothing produces");
    const std::string spaced = "reads `" + std::string(5000, ' ') + "`, which nothing produces";
    EXPECT_EQ(elidedWords(spaced), "reads `" + std::string(511, ' ') + "... (5002 bytes) ..." +
                                       std::string(255, ' ') + "`, which nothing produces");
    EXPECT_LT(elidedWords("has (" + std::string(100'000, 'n') + ", 3)").size(), 900u);
    for (const char* piece : {"` ", "a ", "`", "\xff", "`a` "}) {
        std::string text;
        while (text.size() < 1'000'000) text += piece;
        EXPECT_LT(elidedWords(text).size(), 40'000u) << piece;
    }
}

TEST(Text, splitsAndJoins)
{
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
    EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
    EXPECT_EQ(join(std::vector<int64_t>{}, ", "), "");
    EXPECT_EQ(join(std::vector<int64_t>{1, -2}, "x"), "1x-2");
    EXPECT_EQ(trimmed(" \t a b \n"), "a b");
}

TEST(Text, writesNumbersForPeople)
{
    EXPECT_EQ(fixed(3.14159, 2), "3.14");
    EXPECT_EQ(thousands(0), "0");
    EXPECT_EQ(thousands(999), "999");
    EXPECT_EQ(thousands(1234567), "1,234,567");
    EXPECT_EQ(thousands(-1234), "-1,234");
    EXPECT_EQ(bytesText(17), "17 B");
    EXPECT_EQ(bytesText(1023), "1023 B");
    EXPECT_EQ(bytesText(1536), "1.50 KiB");
    EXPECT_EQ(bytesText(uint64_t{3} << 30), "3.00 GiB");
}

TEST(Text, writesDoublesThatReadBackExactly)
{
    EXPECT_EQ(exact(0.1), "0.1");
    EXPECT_EQ(exact(1e-5), "1e-05");
    EXPECT_EQ(exact(std::nan("")), "nan");
    EXPECT_EQ(exact(-INFINITY), "-inf");
    for (const double value : {1.0 / 3, 5e-324, std::numeric_limits<double>::max(), -0.0})
        EXPECT_EQ(std::strtod(exact(value).c_str(), nullptr), value);
}

TEST(Text, namesTheNearestCandidatesFirst)
{
    const std::vector<std::string> names = {"llvm", "cuda", "metal", "vulkan"};
    EXPECT_EQ(nearestNames("lvm", names, 1), (std::vector<std::string>{"llvm"}));
    EXPECT_EQ(nearestNames("vulcan", names, 1), (std::vector<std::string>{"vulkan"}));
    EXPECT_EQ(nearestNames("x", names, 9).size(), 4u);
}

} // namespace
} // namespace tenon::core
