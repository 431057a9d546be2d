// SPDX-License-Identifier: Apache-2.0
// Files: whole reads and writes that are never seen half done.
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

TEST(File, saysWhichFileCannotBeReadOrWritten)
{
    const TemporaryFolder folder;
    const auto missing = readFile(folder.file("missing"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, DiagnosticCode::IoFailure);
    EXPECT_EQ(missing.error().location.file, folder.file("missing"));
    EXPECT_FALSE(readFile(folder.path()));
    EXPECT_FALSE(writeFileAtomically(folder.file("no/such/folder"), "x"));
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
