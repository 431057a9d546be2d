// SPDX-License-Identifier: Apache-2.0
// The kernel cache: hits compare the whole key, damage is a miss, no folder means no cache.
#include "compiler/driver/object_cache.h"
#include "core/base/file.h"
#include "core/base/unsynced_file.h"
#include "core/jobs/job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

class Cache : public ::testing::Test
{
protected:
    void SetUp() override
    {
        m_folder = fs::temp_directory_path() / ("tenon_cache_" + std::to_string(::getpid()));
        fs::remove_all(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }
    std::vector<fs::path> files() const
    {
        std::vector<fs::path> out;
        for (const auto& entry : fs::recursive_directory_iterator(m_folder))
            if (entry.is_regular_file()) out.push_back(entry.path());
        return out;
    }
    fs::path m_folder;
};

TEST_F(Cache, returnsWhatWasStoredAndNothingElse)
{
    const ObjectCache cache(m_folder.string());
    const ObjectCache::Entry entry{{"object", std::string("\0\1\2", 3)}, {"rule", "dense"}};
    cache.store("key", entry);
    ASSERT_TRUE(cache.find("key"));
    EXPECT_EQ(*cache.find("key"), entry);
    EXPECT_FALSE(cache.find("other key"));
    EXPECT_FALSE(ObjectCache("").find("key"));
}

TEST_F(Cache, everyDamagedByteIsAMiss)
{
    const ObjectCache cache(m_folder.string());
    cache.store("key", {{"object", "some bytes of machine code"}});
    const fs::path file = files().at(0);
    const std::string good = *core::readFile(file.string());
    for (size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x20);
        ASSERT_TRUE(core::writeNewFile(file.string(), bad));
        EXPECT_FALSE(cache.find("key")) << "byte " << i;
    }
    for (size_t length = 0; length < good.size(); ++length) {
        ASSERT_TRUE(core::writeNewFile(file.string(), good.substr(0, length)));
        EXPECT_FALSE(cache.find("key")) << "length " << length;
    }
}

TEST_F(Cache, aFileOfAnotherKeyUnderThisNameIsAMiss)
{
    const ObjectCache cache(m_folder.string());
    cache.store("first", {{"object", "1"}});
    const fs::path first = files().at(0);
    const std::string bytes = *core::readFile(first.string());
    fs::remove(first);
    cache.store("second", {{"object", "2"}});
    ASSERT_TRUE(
        core::writeNewFile(files().at(0).string(), bytes)); // as a hash collision would look
    EXPECT_FALSE(cache.find("second"));
}

TEST_F(Cache, writersAtOnceLeaveWholeEntriesOnly)
{
    const ObjectCache cache(m_folder.string());
    constexpr int kRounds = 12;
    const auto entryOf = [](size_t key, size_t writer) {
        return ObjectCache::Entry{{"object", std::string(20000 + writer, static_cast<char>(key))}};
    };
    const auto keyOf = [](size_t key) { return "key " + std::to_string(key); };
    const core::JobContext job(4);
    const core::Status done = job.parallelFor(4, [&](size_t writer) -> core::Status {
        for (int round = 0; round < kRounds; ++round) {
            const size_t key = static_cast<size_t>(round) % 3;
            cache.store(keyOf(key), entryOf(key, writer));
            const auto found = cache.find(keyOf(key));
            bool isOfAWriter = false;
            for (size_t other = 0; found && other < 4; ++other)
                isOfAWriter = isOfAWriter || *found == entryOf(key, other);
            EXPECT_TRUE(isOfAWriter) << "round " << round;
        }
        return core::kDone;
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(files().size(), 3u); // nothing half-written lies about
}

TEST(CompilerBuildId, isStableWithinOneProgram) { EXPECT_EQ(compilerBuildId(), compilerBuildId()); }

} // namespace
} // namespace tenon::compiler
