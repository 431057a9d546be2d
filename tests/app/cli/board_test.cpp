// SPDX-License-Identifier: Apache-2.0
// tenon board, with a server on this computer as the board.
#include "app/cli/command.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/support/rpc_server.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

namespace tenon::cli {
namespace {

const std::string kOther = "llvm -mtriple=armv7-linux-gnueabihf";

class BoardCommand : public ::testing::Test
{
protected:
    Outcome board(const std::string& words) const
    {
        return tenon("board " + words + " --config '" + m_folder.path() + "' 2>&1");
    }
    std::string address() const { return "127.0.0.1:" + std::to_string(m_server.port()); }

    test::TemporaryFolder m_folder;
    test::RpcServer m_server{{}};
};

std::string targetOf(const Outcome& listed)
{
    return Json::parse(listed.output)["boards"].back()["target"].get<std::string>();
}

TEST_F(BoardCommand, KeepsItsTargetUntilTheProposalIsTaken)
{
    const Outcome added = board("add lab --rpc " + address() + " --target '" + kOther + "'");
    ASSERT_EQ(added.code, 0) << added.output;
    EXPECT_NE(added.output.find("target of the board: " + kOther), std::string::npos);
    EXPECT_NE(added.output.find("`tenon board probe lab --use-proposal` takes it"),
              std::string::npos)
        << added.output;
    EXPECT_EQ(targetOf(board("list --json")), kOther);
    const Outcome taken = board("probe lab --use-proposal --json");
    ASSERT_EQ(taken.code, 0) << taken.output;
    const std::string proposed = Json::parse(taken.output)["facts"]["proposed_target"];
    EXPECT_EQ(targetOf(board("list --json")), proposed);
    EXPECT_EQ(board("probe lab").output.find("proposed target"), std::string::npos);
}

TEST_F(BoardCommand, DoesNotRetargetThisComputer)
{
    const Outcome refused = board("probe local --use-proposal");
    EXPECT_EQ(refused.code, kWrongUsage);
    EXPECT_NE(refused.output.find("leave out --use-proposal"), std::string::npos);
}

TEST_F(BoardCommand, MakesVirtualBoardsOnlyOfKindsThatCanBeEmulated)
{
    const auto deploy = [&](const std::string& options) {
        return tenon("deploy x.onnx --config '" + m_folder.path() + "' " + options + " 2>&1");
    };
    EXPECT_NE(deploy("--virtual quux").output.find("quux"), std::string::npos);
    EXPECT_EQ(deploy("--virtual rpi4 --board local").code, kWrongUsage);
    ASSERT_EQ(board("add rpi4 --rpc " + address()).code, 0);
    const Outcome real = deploy("--virtual rpi4");
    EXPECT_EQ(real.code, kBadInput);
    EXPECT_NE(real.output.find("is no emulated one"), std::string::npos) << real.output;
}

TEST_F(BoardCommand, SaysWhatMayRemainOnABoardThatGoesAway)
{
    ASSERT_EQ(board("add lab --rpc " + address()).code, 0);
    std::jthread powerCut([this] {
        while (m_server.filesLeft() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        m_server.signalAll(SIGKILL); // whatever it does by now
    });
    const Outcome out =
        tenon("deploy " + test::sourcePath("resources/sample/digits") +
              "/model.onnx --board lab --config '" + m_folder.path() + "' --repeat 1000000 2>&1");
    EXPECT_EQ(out.code, kFailed) << out.output;
    EXPECT_NE(out.output.find("error[link-lost]: board `lab`: "), std::string::npos) << out.output;
    EXPECT_NE(out.output.find("not cleaned up: the board could not be reached; files of this "
                              "session may remain"),
              std::string::npos)
        << out.output;
    EXPECT_EQ(out.output.find("nothing left"), std::string::npos) << out.output;
}

TEST_F(BoardCommand, SaysWhyAServerIsMissing)
{
    // The program without what stands beside it in a whole build.
    std::filesystem::create_directory(m_folder.file("alone"));
    const std::string alone = m_folder.file("alone/tenon");
    std::filesystem::copy_file(TENON_PROGRAM, alone);
    const auto run = [&](const std::string& path) {
        return shell("PATH='" + path + "' '" + alone + "' run '" +
                     test::sourcePath("resources/sample/digits/model.onnx") +
                     "' --target 'llvm -mtriple=aarch64-linux-gnu' 2>&1")
            .output;
    };
    std::filesystem::create_directory(m_folder.file("bin"));
    for (const char* program : {"qemu-aarch64", "aarch64-linux-gnu-gcc"}) {
        const std::string file = m_folder.file("bin/") + program;
        EXPECT_EQ(shell("printf '#!/bin/sh\n' > '" + file + "'; chmod +x '" + file + "'").code, 0);
    }
    EXPECT_NE(
        run(m_folder.file("bin")).find("its compiler is installed, but this build left it out"),
        std::string::npos)
        << run(m_folder.file("bin"));
    std::filesystem::remove(m_folder.file("bin/aarch64-linux-gnu-gcc"));
    EXPECT_NE(run(m_folder.file("bin")).find("sudo apt-get install gcc-aarch64-linux-gnu"),
              std::string::npos);
}

} // namespace
} // namespace tenon::cli
