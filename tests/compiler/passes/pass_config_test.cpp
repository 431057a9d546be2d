// SPDX-License-Identifier: Apache-2.0
// Pass configuration: typed values, unknown keys with the known ones.
#include "compiler/passes/pass.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(PassConfig, ReadsTypedValues)
{
    PassContext context;
    const Result<PassConfig> config =
        parsePassConfig({"relay.FuseOps.max_depth=16", "tir.disable_vectorize=true",
                         "tir.usmp.algorithm=greedy", "winograd.max_error=1e-6"});
    ASSERT_TRUE(config) << config.error().text();
    context.config = *config;
    EXPECT_EQ(context.integer("relay.FuseOps.max_depth", 256), 16);
    EXPECT_TRUE(context.flag("tir.disable_vectorize", false));
    EXPECT_FALSE(context.flag("tir.noalias", false));
    EXPECT_EQ(context.number("winograd.max_error", 1e-5), 1e-6);
    EXPECT_EQ(std::get<std::string>(context.config.at("tir.usmp.algorithm")), "greedy");
}

TEST(PassConfig, UnknownKeysListTheKnownOnes)
{
    const Result<PassConfig> config = parsePassConfig({"relay.FuseOps.maxdepth=16"});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, DiagnosticCode::BadArgument);
    EXPECT_NE(config.error().message.find("`relay.FuseOps.max_depth`"), std::string::npos);
    ASSERT_EQ(config.error().notes.size(), 1u);
    EXPECT_NE(config.error().notes[0].message.find("tir.usmp.enable"), std::string::npos);
}

TEST(PassConfig, RefusesValuesOfAnotherType)
{
    for (const char* text : {"relay.FuseOps.max_depth=many", "tir.disable_vectorize=2",
                             "relay.FuseOps.max_depth", "relay.FuseOps.max_depth=1.5"}) {
        const Result<PassConfig> config = parsePassConfig({text});
        ASSERT_FALSE(config) << text;
        EXPECT_NE(config.error().message.find("needs"), std::string::npos) << text;
    }
}

} // namespace
} // namespace tenon::compiler
