// SPDX-License-Identifier: Apache-2.0
// tenon completion: what a shell offers behind the tab key.
#include "core/base/program_files.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

/// As bash would ask, with words of its own splitting.
std::string offered(const std::string& words) { return tenon("__complete bash " + words).output; }

bool has(const std::string& text, const std::string& line)
{
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Completion, OffersCommandsAndTheirOptions)
{
    EXPECT_EQ(offered("foot"), "footprint\n");
    EXPECT_TRUE(has(offered("''"), "completion"));
    EXPECT_FALSE(has(offered("''"), "kernel-worker")); // hidden
    EXPECT_EQ(offered("run --exec"), "--executor\n");
    EXPECT_EQ(offered("board probe --use"), "--use-proposal\n");
    EXPECT_TRUE(has(offered("board ''"), "remove"));
    EXPECT_EQ(offered("run model.onnx ''"), ""); // files are the shell's
    EXPECT_EQ(offered("run --no-such ''"), "");
}

TEST(Completion, OffersTheValuesOfAnOption)
{
    EXPECT_EQ(offered("compile --executor ''"), "aot\ngraph\nvm\n");
    EXPECT_EQ(offered("compile m.onnx --executor g"), "graph\n");
    EXPECT_EQ(offered("compile --executor = v"), "vm\n"); // --executor=v
    EXPECT_EQ(offered("compile --executor ="), "aot\ngraph\nvm\n");
    EXPECT_EQ(tenon("__complete fish compile --executor=v").output, "--executor=vm\n");
    EXPECT_TRUE(has(offered("compile --target ''"), "llvm"));
    EXPECT_TRUE(has(offered("compile --target raspberry-pi/4b-"), "raspberry-pi/4b-aarch64"));
    EXPECT_FALSE(has(offered("compile --target ''"), "cuda")); // no code is generated for it
    EXPECT_TRUE(has(offered("compile --disable-pass Fuse"), "FuseOps"));
    EXPECT_TRUE(has(offered("passes --print-after c"), "changed"));
    EXPECT_TRUE(has(offered("compile --pass-config relay.Fuse"), "relay.FuseOps.max_depth="));
    EXPECT_TRUE(has(offered("compile --usmp-algorithm hill"), "hill_climb"));
    EXPECT_TRUE(has(offered("board add x --virtual rpi"), "rpi4"));
    EXPECT_EQ(tenon("__complete zsh foot").output.rfind("footprint\tlink a model", 0), 0u);
}

TEST(Completion, KnowsTheBoards)
{
    const test::TemporaryFolder home;
    ::setenv("XDG_CONFIG_HOME", home.path().c_str(), 1);
    EXPECT_EQ(tenon("board add kitchen --no-probe --rpc 127.0.0.1:9 >/dev/null").code, 0);
    EXPECT_EQ(offered("run --board kit"), "kitchen\n");
    EXPECT_EQ(offered("board remove kit"), "kitchen\n");
    ::unsetenv("XDG_CONFIG_HOME");
}

TEST(Completion, WorksInBash)
{
    TENON_NEED_TOOL("bash");
    const std::string program = core::siblingProgram("tenon");
    const auto inBash = [&](const std::string& words, int last) {
        return shell("bash -c '. <(\"" + program + "\" completion bash); COMP_WORDS=(" + words +
                     "); COMP_CWORD=" + std::to_string(last) +
                     "; compopt() { echo nospace; }; _tenon \"" + program +
                     "\"; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
            .output;
    };
    EXPECT_EQ(inBash("tenon com", 1), "compare\ncompile\ncompletion\n");
    EXPECT_EQ(inBash("tenon run --executor g", 3), "graph\n");
    EXPECT_EQ(inBash("tenon run --pass-config winograd.output", 3),
              "nospace\nwinograd.output_error=\n");
}

TEST(Completion, KnowsThreeShells)
{
    for (const char* name : {"bash", "fish", "zsh"}) {
        const Outcome script = tenon(std::string("completion ") + name);
        EXPECT_EQ(script.code, 0) << name;
        EXPECT_NE(script.output.find(std::string("__complete ") + name), std::string::npos);
    }
    EXPECT_EQ(tenon("completion csh 2>&1").code, 2);
}

} // namespace
} // namespace tenon::cli
