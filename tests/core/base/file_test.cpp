// SPDX-License-Identifier: Apache-2.0
// Files: whole reads and writes that are never seen half done.
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace tenon::core {
namespace {

using test::TemporaryFolder;

size_t entriesOf(const std::string& folder)
{
    const std::filesystem::directory_iterator begin(folder);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

TEST(File, readsBackWhatItWrote)
{
    const TemporaryFolder folder;
    const std::string content("a\0b\n", 4);
    ASSERT_TRUE(writeFileAtomically(folder.file("x"), content));
    EXPECT_EQ(*readFile(folder.file("x")), content);
    ASSERT_TRUE(writeFileAtomically(folder.file("x"), ""));
    EXPECT_EQ(*readFile(folder.file("x")), "");
    EXPECT_EQ(entriesOf(folder.path()), 1u);
}

TEST(File, keepsTheOldContentWhenTheWriterFails)
{
    const TemporaryFolder folder;
    ASSERT_TRUE(writeFileAtomically(folder.file("x"), "old"));
    const Status status =
        replaceFileAtomically(folder.file("x"), [](const std::string& path) -> Status {
            std::ofstream(path) << "half";
            return makeError(DiagnosticCode::LinkFailure, "stopped half way");
        });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, DiagnosticCode::LinkFailure);
    EXPECT_EQ(*readFile(folder.file("x")), "old");
    EXPECT_EQ(entriesOf(folder.path()), 1u);
}

TEST(File, followsLinksAsEveryProgramThatWrites)
{
    const TemporaryFolder folder;
    ASSERT_TRUE(writeFileAtomically(folder.file("real"), "old"));
    std::filesystem::create_symlink("real", folder.file("link"));
    std::filesystem::create_symlink(folder.file("link"), folder.file("link of a link"));
    ASSERT_TRUE(writeFileAtomically(folder.file("link of a link"), "new"));
    EXPECT_EQ(*readFile(folder.file("real")), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link of a link")));
    std::filesystem::create_symlink("later", folder.file("dangling"));
    ASSERT_TRUE(writeFileAtomically(folder.file("dangling"), "made"));
    EXPECT_EQ(*readFile(folder.file("later")), "made");
    EXPECT_EQ(entriesOf(folder.path()), 5u);
}

TEST(File, replacesNothingThatIsNoFile)
{
    const TemporaryFolder folder;
    std::filesystem::create_symlink("round", folder.file("round"));
    std::filesystem::create_directory(folder.file("a folder"));
    std::filesystem::create_symlink("a folder", folder.file("to a folder"));
    ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
    for (const char* name : {"round", "a folder", "to a folder", "fifo"}) {
        const Status status = writeFileAtomically(folder.file(name), "x");
        ASSERT_FALSE(status) << name;
        EXPECT_EQ(status.error().location.file, folder.file(name));
    }
    EXPECT_EQ(entriesOf(folder.path()), 4u);
    EXPECT_TRUE(std::filesystem::is_fifo(folder.file("fifo")));
}

TEST(File, takesTheLongestNames)
{
    const TemporaryFolder folder;
    const std::string path = folder.file(std::string(255, 'n'));
    ASSERT_TRUE(writeFileAtomically(path, "x"));
    EXPECT_EQ(*readFile(path), "x");
    EXPECT_EQ(entriesOf(folder.path()), 1u);
}

TEST(File, removesWhatKilledWritersLeft)
{
    const TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0)
        static_cast<void>(static_cast<bool>(
            replaceFileAtomically(folder.file("x"), [](const std::string& path) -> Status {
                std::ofstream(path) << "half";
                ::kill(::getpid(), SIGKILL);
                return kDone;
            })));
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(entriesOf(folder.path()), 1u); // what it wrote aside
    // So did earlier versions, by the number of their thread: one that ended, and one that runs.
    const std::string mine = folder.file("y.part" + std::to_string(::getpid()));
    std::ofstream(folder.file("y.part" + std::to_string(child))) << "half";
    std::ofstream(mine) << "half";
    std::ofstream(folder.file("y.part2")) << "part two";
    ASSERT_TRUE(writeFileAtomically(folder.file("y"), "y"));
    EXPECT_EQ(entriesOf(folder.path()), 3u);
    EXPECT_TRUE(std::filesystem::exists(mine));
    EXPECT_EQ(*readFile(folder.file("y.part2")), "part two");
}

TEST(File, saysWhichFileCannotBeReadOrWritten)
{
    const TemporaryFolder folder;
    const auto missing = readFile(folder.file("missing"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, DiagnosticCode::IoFailure);
    EXPECT_EQ(missing.error().location.file, folder.file("missing"));
    EXPECT_FALSE(readFile(folder.path()));
    const Status unwritten = writeFileAtomically(folder.file("no/such/folder"), "x");
    ASSERT_FALSE(unwritten);
    EXPECT_EQ(unwritten.error().location.file, folder.file("no/such/folder"));
    EXPECT_NE(unwritten.error().message.find("there is no folder `" + folder.file("no/such") + "`"),
              std::string::npos)
        << unwritten.error().message;
    EXPECT_EQ(entriesOf(folder.path()), 0u);
}

TEST(File, keepsTheOldContentWhenNothingMoreFits)
{
    const TemporaryFolder folder;
    ASSERT_TRUE(writeFileAtomically(folder.file("x"), "old"));
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, SIG_IGN); // the write fails instead, as on a full disk
    const rlimit tight = {1000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const Status status = writeFileAtomically(folder.file("x"), std::string(5000, 'n'));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, DiagnosticCode::IoFailure);
    EXPECT_EQ(*readFile(folder.file("x")), "old");
    EXPECT_EQ(entriesOf(folder.path()), 1u);
}

} // namespace
} // namespace tenon::core
