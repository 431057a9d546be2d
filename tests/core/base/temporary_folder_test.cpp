// SPDX-License-Identifier: Apache-2.0
// Temporary folders: those of killed programs go, those of living ones and of others stay.
#include "core/base/temporary_folder.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

class TemporaryFolders : public testing::Test
{
protected:
    void SetUp() override { ::setenv("TMPDIR", m_place.path().c_str(), 1); }
    void TearDown() override { ::unsetenv("TMPDIR"); }
    size_t count() const
    {
        const fs::directory_iterator begin(m_place.path());
        return static_cast<size_t>(std::distance(begin, fs::directory_iterator()));
    }
    /// A process that has a folder with a file in it and waits to be killed.
    static pid_t startHolder()
    {
        int ready[2];
        EXPECT_EQ(pipe(ready), 0);
        const pid_t child = fork();
        if (child == 0) {
            const auto folder = TemporaryFolder::make("tenon-link-");
            std::ofstream(folder->file("x")) << std::string(100'000, 'x');
            static_cast<void>(!write(ready[1], "", 1));
            for (;;) pause();
        }
        char byte = 0;
        EXPECT_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        return child;
    }
    static void killAndReap(pid_t child)
    {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }

    test::TemporaryFolder m_place;
};

TEST_F(TemporaryFolders, ofKilledProgramsAreSwept)
{
    const pid_t killed = startHolder();
    const pid_t alive = startHolder();
    EXPECT_EQ(count(), 2u);
    killAndReap(killed);
    sweepTemporaryFolders();
    EXPECT_EQ(count(), 1u);
    killAndReap(alive);
    sweepTemporaryFolders();
    EXPECT_EQ(count(), 0u);
}

TEST_F(TemporaryFolders, ofOthersStay)
{
    const fs::path elsewhere = m_place.file("mine");
    fs::create_directory(elsewhere);
    std::ofstream(elsewhere / "precious") << "x";
    for (const char* name :
         {"tenon-backup", "tenon-XXXXXX", "tenon-test-a1b2c3", "tenon-0123456789abcdeg",
          "other-0123456789abcdef", "tenon-link0123456789abcdef"})
        fs::create_directory(m_place.file(name));
    fs::create_directory_symlink(elsewhere, m_place.file("tenon-0123456789abcdef"));
    std::ofstream(m_place.file("tenon-run-0123456789abcdef")) << "a file";
    const size_t before = count();
    sweepTemporaryFolders();
    EXPECT_EQ(count(), before);
    EXPECT_TRUE(fs::exists(elsewhere / "precious"));
}

TEST_F(TemporaryFolders, areNeverSweptWhileTheyAreMade)
{
    std::atomic<bool> isOver = false;
    std::vector<std::jthread> sweepers;
    for (int i = 0; i < 2; ++i)
        sweepers.emplace_back([&] {
            while (!isOver) sweepTemporaryFolders();
        });
    for (int i = 0; i < 200; ++i) {
        const auto folder = TemporaryFolder::make("tenon-");
        ASSERT_TRUE(folder) << folder.error().text();
        std::ofstream(folder->file("x")) << "x";
        ASSERT_TRUE(fs::exists(folder->file("x"))) << i;
    }
    isOver = true;
    sweepers.clear();
    EXPECT_EQ(count(), 0u);
}

TEST_F(TemporaryFolders, besideATargetAreSweptWithTheNextOne)
{
    const std::string target = m_place.file("out");
    fs::create_directories(target + ".tenon-0123456789abcdef/new");
    fs::create_directories(target + ".backup");
    fs::create_directories(target + ".tenon-fedcba9876543210/old"); // somebody's only copy
    {
        const auto folder = TemporaryFolder::makeBeside(target);
        ASSERT_TRUE(folder) << folder.error().text();
        EXPECT_EQ(count(), 3u);
    }
    EXPECT_EQ(count(), 2u);
}

} // namespace
} // namespace tenon::core
