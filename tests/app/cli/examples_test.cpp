// SPDX-License-Identifier: Apache-2.0
// What --help shows can be typed as it stands there.
#include "core/base/text.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tenon::cli {
namespace {

constexpr const char* kKernel = R"(@T.prim_func
def scaled_sum(a: T.Buffer((64, 128), "float32"), b: T.Buffer((64, 128), "float32"), c: T.Buffer((64, 128), "float32")):
    for i in T.serial(64):
        for j in T.serial(128):
            with T.block("c"):
                vi = T.axis.spatial(64, i)
                vj = T.axis.spatial(128, j)
                c[vi, vj] = a[vi, vj] * T.float32(2) + b[vi, vj]
)";

/// The first words of the lines below a title of --help.
std::vector<std::string> wordsBelow(const std::string& help, const std::string& title)
{
    std::vector<std::string> words;
    bool isBelow = false;
    for (const std::string& line : core::split(help, '\n')) {
        const bool isRow = line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
        if (isBelow && isRow) words.push_back(line.substr(2, line.find(' ', 2) - 2));
        if (!line.starts_with(' ')) isBelow = line == title;
    }
    return words;
}

/// Commands that do something: "inspect", "board add".
std::vector<std::string> commandsBelow(const std::string& words)
{
    const std::string help = tenon(words + " --help").output;
    const std::vector<std::string> parts = wordsBelow(help, "Subcommands:");
    if (parts.empty()) return {words};
    std::vector<std::string> all;
    for (const std::string& part : parts)
        for (std::string& command : commandsBelow(words.empty() ? part : words + " " + part))
            all.push_back(std::move(command));
    return all;
}

std::vector<std::string> examplesOf(const std::string& command)
{
    std::vector<std::string> lines;
    const std::string help = tenon(command + " --help").output;
    const size_t start = help.find("\nExamples:\n");
    if (start == std::string::npos) return lines;
    for (const std::string& line : core::split(help.substr(start + 11), '\n'))
        if (const size_t end = line.find("  # "); end != std::string::npos)
            lines.emplace_back(core::trimmed(line.substr(0, end)));
    return lines;
}

/// Boards that are not here, servers that would listen, tools that need not be installed: of these
/// lines the options are read.
bool needsMore(const std::string& line)
{
    for (const char* part : {" pi", "farm", "virtual", "board remove", "project", "tracker",
                             "rpc-server", "mps2-an386", "footprint"})
        if (line.find(part) != std::string::npos) return true;
    return false;
}

TEST(CliExamples, CanBeTypedAsTheyStandInTheHelp)
{
    namespace fs = std::filesystem;
    const test::TemporaryFolder folder;
    fs::copy(TENON_SAMPLE_FOLDER, folder.file("model"), fs::copy_options::recursive);
    fs::copy(folder.file("model/model.onnx"), folder.file("model.onnx"));
    std::ofstream(folder.file("kernel.tir")) << kKernel;
    fs::create_directory(folder.file("bin"));
    fs::create_symlink(TENON_PROGRAM, folder.file("bin/tenon"));
    const std::string here = "cd '" + folder.path() + "' && PATH='" + folder.file("bin") +
                             "':\"$PATH\" && export XDG_CONFIG_HOME='" + folder.file("config") +
                             "' && ";
    const std::vector<std::string> commands = commandsBelow("");
    EXPECT_GT(commands.size(), 20u);
    for (const std::string& command : commands) {
        const std::vector<std::string> lines = examplesOf(command);
        EXPECT_GE(lines.size(), 2u) << command;
        for (const std::string& line : lines) {
            EXPECT_TRUE(line.starts_with("tenon " + command)) << line;
            const bool isRead = needsMore(line);
            const Outcome done =
                shell(here + (isRead ? "timeout 2 " : "") + "sh -c \"" + line + "\" 2>&1");
            if (isRead)
                EXPECT_NE(done.code, 2) << line << '\n' << done.output;
            else
                EXPECT_EQ(done.code, 0) << line << '\n' << done.output;
        }
    }
}

} // namespace
} // namespace tenon::cli
