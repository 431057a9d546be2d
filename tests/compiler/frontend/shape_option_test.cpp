// SPDX-License-Identifier: Apache-2.0
// What users write about shapes: one entry, several in a line, and what is none.
#include "compiler/frontend/shape_option.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(ShapeOption, ReadsSeveralEntriesOfALine)
{
    for (const char* line : {"batch=1..8 seq=128 x=1,3,4", "batch=1..8, seq=128; x=1,3,4",
                             "  batch = 1..8,seq = 128 ,x = 1, 3 ,4 ",
                             ";batch=1..8;;seq=128\tx=1,3,4,", "batch=1..8 seq=128 x=1x3x4"}) {
        ImportOptions options;
        ASSERT_TRUE(readShapeOptions(line, options)) << line;
        EXPECT_EQ(options.bounds["batch"], (std::vector<DimBounds>{{1, 8}})) << line;
        EXPECT_EQ(options.shapes["seq"], std::vector<int64_t>{128}) << line;
        EXPECT_EQ(options.shapes["x"], (std::vector<int64_t>{1, 3, 4})) << line;
        EXPECT_EQ(options.shapes.size() + options.bounds.size(), 3u) << line;
    }
}

TEST(ShapeOption, TellsNamesFromSizes)
{
    ImportOptions options;
    ASSERT_TRUE(readShapeOptions("0=1..2,3,1=7,8,my input=4,left, right=5;6,7=9", options));
    EXPECT_EQ(options.bounds.size(), 1u);
    EXPECT_EQ(options.bounds["0"], (std::vector<DimBounds>{{1, 2}, {3, 3}}));
    EXPECT_EQ(options.shapes,
              (std::map<std::string, std::vector<int64_t>>{
                  {"1", {7, 8}}, {"my input", {4}}, {"left,right", {5}}, {"6,7", {9}}}));
}

TEST(ShapeOption, KeepsNothingOfAnEmptyLine)
{
    ImportOptions options;
    EXPECT_TRUE(readShapeOptions("  ; ", options));
    EXPECT_TRUE(options.shapes.empty() && options.bounds.empty());
}

TEST(ShapeOption, QuotesTheEntryThatIsNone)
{
    const std::pair<const char*, const char*> cases[] = {{"batch=4 seq", "`seq`"},
                                                         {"batch=4 5", "`5`"},
                                                         {"batch=8..1", "`batch=8..1`"},
                                                         {"batch=", "`batch=`"},
                                                         {"=3", "`=3`"},
                                                         {"batch=4,seq", "`batch=4,seq`"},
                                                         {"seq;batch=4", "`seq`"},
                                                         {"3,4", "`3,4`"},
                                                         {"x=1,two,3", "`x=1,two,3`"},
                                                         {"x=1,,3", "`x=1,,3`"},
                                                         {"x=1xx3", "`x=1xx3`"},
                                                         {"x=x3", "`x=x3`"},
                                                         {"batch=-1", "`batch=-1`"},
                                                         {"batch=1..8..9 y=2", "`batch=1..8..9`"}};
    for (const auto& [line, entry] : cases) {
        ImportOptions options;
        const Status read = readShapeOptions(line, options);
        ASSERT_FALSE(read) << line;
        EXPECT_EQ(read.error().code, DiagnosticCode::BadArgument);
        EXPECT_TRUE(read.error().message.starts_with(std::string(entry) + " is no binding"))
            << read.error().message;
    }
}

} // namespace
} // namespace tenon::compiler
