// SPDX-License-Identifier: Apache-2.0
// Graph text: canonical printing, reading back, errors.
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <regex>

namespace tenon::core {
namespace {

/// Content hashes are no part of what the golden files say.
std::string withoutHashes(const std::string& text)
{
    return std::regex_replace(text, std::regex("#[0-9a-f]{32}"), "#0");
}

TEST(GraphText, PrintsCanonicallyAndReadsBack)
{
    test::expectGolden("tests/core/ir/graph_text.txt", [](const test::GoldenCase& c) {
        const Result<Module> module = parseModule(c.input);
        if (!module) return module.error().text() + "\n";
        const std::string text = printModule(*module);
        const Result<Module> again = parseModule(text, constantPool(*module));
        EXPECT_TRUE(again) << again.error().text();
        if (again) {
            EXPECT_EQ(printModule(*again), text);
        }
        return withoutHashes(text);
    });
}

TEST(GraphText, ErrorsSayWhatAndWhere)
{
    test::expectGolden("tests/core/ir/bad_graph_text.txt", [](const test::GoldenCase& c) {
        const Result<Module> module = parseModule(c.input);
        if (module) return std::string("no error\n");
        const Diagnostic& error = module.error();
        return "error " + std::string(codeText(error.code)) + " at " + error.location.detail +
               ": " + error.message + "\n";
    });
}

TEST(GraphText, EveryOperatorBecomesASource)
{
    const Result<Module> module = parseModule("def @main(%x: Tensor[(1,), float32]) {\n"
                                              "  %act = nn.relu(%x) : Tensor[(1,), float32]\n"
                                              "  return %act\n}\n");
    ASSERT_TRUE(module) << module.error().text();
    ASSERT_EQ(module->sources().size(), 1u);
    EXPECT_EQ(module->sources()[0].name, "act");
    GraphTextOptions options;
    options.origins = true;
    const std::string text = printModule(*module, options);
    EXPECT_NE(text.find("// from act"), std::string::npos) << text;
    EXPECT_TRUE(parseModule(text));
}

TEST(GraphText, RandomConstantsFollowTheirSeed)
{
    const auto print = [](const char* call) {
        return printModule(*parseModule("def @main() {\n  %w = " + std::string(call) +
                                        " : Tensor[(64,), float32]\n  return %w\n}\n"));
    };
    EXPECT_EQ(print("rand(1)"), print("rand(1)"));
    EXPECT_NE(print("rand(1)"), print("rand(2)"));
    EXPECT_NE(print("rand(1)"), print("rand(1, 0.5, 1.5)"));
}

} // namespace
} // namespace tenon::core
