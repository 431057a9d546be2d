// SPDX-License-Identifier: Apache-2.0
// Files in parts: written whole, and kept only where every byte is the same.
#include "compiler/package/file_parts.h"
#include "core/base/file.h"
#include "core/base/unsynced_file.h"
#include "core/jobs/job.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

/// More than several threads' pieces, with parts of odd lengths and empty ones.
class Parts : public ::testing::Test
{
protected:
    void SetUp() override
    {
        for (size_t i = 0; i < m_large.size(); ++i)
            m_large[i] = static_cast<char>(i * 31 + i / 509);
        m_parts = {bytesOf(m_head), {}, bytesOf(m_large), bytesOf(m_head), bytesOf(m_head)};
        m_whole = m_head + m_large + m_head + m_head;
        m_path = m_folder.file("out");
    }
    static std::span<const std::byte> bytesOf(const std::string& text)
    {
        return std::as_bytes(std::span(text));
    }
    void put(const std::string& content) const { ASSERT_TRUE(core::writeNewFile(m_path, content)); }
    test::TemporaryFolder m_folder;
    std::string m_head = "a header";
    std::string m_large = std::string((size_t{9} << 20) + 77, '\0');
    FileParts m_parts;
    std::string m_whole;
    std::string m_path;
};

TEST_F(Parts, areWrittenOneAfterTheOther)
{
    ASSERT_TRUE(writeParts(m_parts, m_path));
    EXPECT_TRUE(*core::readFile(m_path) == m_whole);
    ASSERT_TRUE(writeParts({}, m_path));
    EXPECT_EQ(fs::file_size(m_path), 0u);
    const FileParts many(2000, bytesOf(m_head)); // more than a system takes at a time
    ASSERT_TRUE(writeParts(many, m_path));
    const std::string text = *core::readFile(m_path);
    EXPECT_EQ(text.size(), 2000 * m_head.size());
    EXPECT_EQ(text.substr(1998 * m_head.size()), m_head + m_head);
}

TEST_F(Parts, stayWhereTheyStandAlreadyAndAreDatedNow)
{
    put(m_whole);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
    fs::last_write_time(m_path, old);
    struct stat before = {}, after = {};
    ASSERT_EQ(::stat(m_path.c_str(), &before), 0);
    EXPECT_TRUE(keepIfSame(m_parts, m_path));
    ASSERT_EQ(::stat(m_path.c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_GT(fs::last_write_time(m_path), old + std::chrono::hours(23));
    EXPECT_TRUE(*core::readFile(m_path) == m_whole);
    put({});
    EXPECT_TRUE(keepIfSame({}, m_path));
}

TEST_F(Parts, areAnotherFileWithAnyByteChangedMissingOrMore)
{
    for (const size_t at : {size_t{0}, size_t{3}, m_head.size(), size_t{4} << 20,
                            (size_t{8} << 20) + 1, m_whole.size() - 1}) {
        std::string other = m_whole;
        other[at] = static_cast<char>(other[at] ^ 1);
        put(other);
        EXPECT_FALSE(keepIfSame(m_parts, m_path)) << at;
    }
    put(m_whole.substr(0, m_whole.size() - 1));
    EXPECT_FALSE(keepIfSame(m_parts, m_path));
    put(m_whole + "x");
    EXPECT_FALSE(keepIfSame(m_parts, m_path));
    put({});
    EXPECT_FALSE(keepIfSame(m_parts, m_path));
}

TEST_F(Parts, areNotKeptInWhatIsNoFile)
{
    EXPECT_FALSE(keepIfSame(m_parts, m_path));
    EXPECT_FALSE(keepIfSame({}, m_folder.path()));
    put(m_whole);
    fs::create_symlink(m_path, m_folder.file("link")); // would be replaced by a file
    EXPECT_FALSE(keepIfSame(m_parts, m_folder.file("link")));
    ASSERT_EQ(::mkfifo(m_folder.file("pipe").c_str(), 0600), 0);
    EXPECT_FALSE(keepIfSame({}, m_folder.file("pipe")));
}

TEST_F(Parts, areWholeWhoeverWritesThemMeanwhile)
{
    const std::string other = m_large + m_large;
    const FileParts others{bytesOf(other)};
    const core::JobContext job(4);
    const core::Status done = job.parallelFor(12, [&](size_t i) -> core::Status {
        const FileParts& mine = i % 3 == 0 ? others : m_parts;
        if (keepIfSame(mine, m_path)) return core::kDone;
        return core::replaceFileAtomically(
            m_path, [&](const std::string& temporary) { return writeParts(mine, temporary); });
    });
    ASSERT_TRUE(done) << done.error().text();
    const std::string left = *core::readFile(m_path);
    EXPECT_TRUE(left == m_whole || left == other);
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder.path()), fs::directory_iterator()), 1);
}

TEST_F(Parts, sayThatTheDiskIsFull)
{
    const core::Status full = writeParts(m_parts, "/dev/full");
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, core::DiagnosticCode::IoFailure);
    EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
    EXPECT_EQ(full.error().location.file, "/dev/full");
}

} // namespace
} // namespace tenon::compiler
