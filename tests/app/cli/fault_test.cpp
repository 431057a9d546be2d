// SPDX-License-Identifier: Apache-2.0
// tenon under faults: a full disk and an interrupt leave nothing half-written behind.
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

extern char** environ;

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

/// As shell(), with what goes to stderr.
Outcome both(const std::string& command) { return shell("(" + command + ") 2>&1"); }

std::vector<std::string> names(const std::string& folder)
{
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder))
        out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

class Faults : public ::testing::Test
{
protected:
    void SetUp() override
    {
        m_model = m_folder.file("model.onnx");
        std::ofstream(m_model, std::ios::binary) << test::makeDscnn({.channelDivisor = 4});
        fs::create_directories(m_folder.file("out"));
        fs::create_directories(m_folder.file("tmp"));
    }
    /// A shell command that compiles into out/ with every temporary file below tmp/.
    std::string compileInto(const std::string& name) const
    {
        return "TMPDIR='" + m_folder.file("tmp") + "' '" + TENON_PROGRAM +
               "' compile --no-cache '" + m_model + "' -o '" + m_folder.file("out/" + name) + "'";
    }
    test::TemporaryFolder m_folder;
    std::string m_model;
};

TEST_F(Faults, AFileSizeLimitKeepsTheOldArtifact)
{
    for (const char* name : {"m.so", "m.o", "m.tar"}) {
        const std::string path = m_folder.file(std::string("out/") + name);
        std::ofstream(path) << "old";
        const Outcome out = both("ulimit -f 40; " + compileInto(name));
        EXPECT_EQ(out.code, 1) << name << ": " << out.output;
        EXPECT_NE(out.output.find("error["), std::string::npos) << out.output;
        EXPECT_EQ(fs::file_size(path), 3u) << name;
        EXPECT_EQ(names(m_folder.file("tmp")), std::vector<std::string>());
        fs::remove(path);
        EXPECT_EQ(names(m_folder.file("out")), std::vector<std::string>()) << name;
    }
}

TEST_F(Faults, AFullDiskIsAnErrorThatNamesTheFile)
{
    const std::string mount = "mount -t tmpfs -o size=16k tmpfs '" + m_folder.file("out") + "'";
    const std::string inside =
        std::string("unshare --mount ") + (::getuid() == 0 ? "" : "--map-root-user ") + "sh -c ";
    TENON_NEED(both(inside + "\"" + mount + "\"").code == 0, "namespaces",
               "this system allows no mount in a namespace");
    const std::pair<std::string, std::string> outputs[] = {
        {"m.so", ""}, {"m.o", ""}, {"m.tar", ""}, {"c.tar", " --target c"}, {"c", " --target c"}};
    for (const auto& [name, target] : outputs) {
        const Outcome out =
            both(inside + "\"" + mount + "; " + compileInto(name) + target +
                 "; echo code \\$?; ls -A '" + m_folder.file("out") + "' | sed 's/^/left: /'\"");
        EXPECT_NE(out.output.find("code 1"), std::string::npos) << out.output;
        EXPECT_NE(out.output.find("No space left on device"), std::string::npos) << out.output;
        // The file that was asked for, not the one beside it.
        EXPECT_NE(out.output.find("in file " + m_folder.file("out/" + name) + "\n"),
                  std::string::npos)
            << out.output;
        EXPECT_EQ(out.output.find("left: "), std::string::npos) << out.output;
        EXPECT_EQ(names(m_folder.file("tmp")), std::vector<std::string>());
    }
}

/// Starts tenon with `arguments` in the background.
pid_t start(const std::vector<std::string>& arguments, const std::string& log,
            const std::string& temporary)
{
    std::vector<std::string> copies{TENON_PROGRAM};
    copies.insert(copies.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = -1;
    ::setenv("TMPDIR", temporary.c_str(), 1);
    EXPECT_EQ(::posix_spawn(&pid, TENON_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    ::unsetenv("TMPDIR");
    ::posix_spawn_file_actions_destroy(&actions);
    return pid;
}

TEST_F(Faults, AnInterruptEndsABenchmarkAndItsServer)
{
    const std::string temporary = m_folder.file("tmp");
    const pid_t pid =
        start({"bench", "--no-cache", "--repeat", "1000000", "--threads", "1", m_model},
              m_folder.file("log"), temporary);
    ASSERT_GT(pid, 0);
    // The server's folder tells that the model is being run.
    for (int i = 0; i < 6000 && names(temporary).empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_FALSE(names(temporary).empty());
    ::kill(pid, SIGINT);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    std::ifstream log(m_folder.file("log"));
    const std::string said((std::istreambuf_iterator<char>(log)), {});
    EXPECT_NE(said.find("error[cancelled]"), std::string::npos) << said;
    EXPECT_EQ(names(temporary), std::vector<std::string>());
}

} // namespace
} // namespace tenon::cli
