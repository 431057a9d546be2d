// SPDX-License-Identifier: Apache-2.0
// The run history keeps records across openings and refuses files that are none.
#include "remote/history/run_history.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon::remote {
namespace {

RunRecord record(int64_t time, const std::string& hash)
{
    return {.unixTimeS = time,
            .modelName = "a 'quoted' name",
            .modelHash = hash,
            .target = "llvm",
            .executor = "aot",
            .board = "this computer",
            .toolVersion = "0.1.0",
            .threads = 2,
            .optLevel = 3,
            .runsMs = {1.5, 1.25, 1.75},
            .hygiene = "{}"};
}

TEST(RunHistory, keepsRecordsAcrossOpenings)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.db");
    for (int64_t time = 1; time <= 3; ++time) {
        const auto history = RunHistory::open(path);
        ASSERT_TRUE(history) << history.error().text();
        const auto id = (*history)->add(record(time, time == 2 ? "two" : "odd"));
        ASSERT_TRUE(id) << id.error().text();
        EXPECT_EQ(*id, time);
    }
    const auto history = RunHistory::open(path);
    ASSERT_TRUE(history);
    const auto newest = (*history)->recent(2);
    ASSERT_TRUE(newest);
    ASSERT_EQ(newest->size(), 2u);
    EXPECT_EQ((*newest)[0].unixTimeS, 3);
    EXPECT_EQ((*newest)[0].runsMs, (std::vector<double>{1.5, 1.25, 1.75}));
    EXPECT_EQ((*newest)[0].modelName, "a 'quoted' name");
    EXPECT_EQ((*newest)[0].threads, 2u);
    EXPECT_EQ((*history)->recent(10, "odd")->size(), 2u);
    EXPECT_EQ((*history)->recent(10, "none")->size(), 0u);
}

TEST(RunHistory, refusesOtherFiles)
{
    const test::TemporaryFolder folder;
    EXPECT_FALSE(RunHistory::open(folder.file("no/such/folder.db")));
    std::ofstream(folder.file("text.db")) << std::string(4096, 'x');
    EXPECT_FALSE(RunHistory::open(folder.file("text.db")));
}

/// Changes four bytes of the header of a history.
bool opensWith(std::streamoff offset, const std::string& bytes)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.db");
    EXPECT_TRUE(RunHistory::open(path));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset) << bytes;
    file.close();
    return static_cast<bool>(RunHistory::open(path));
}

TEST(RunHistory, refusesDatabasesOfOthersAndOfNewerVersions)
{
    constexpr std::streamoff kUserVersion = 60, kApplication = 68; // of SQLite's file format
    EXPECT_TRUE(opensWith(kApplication, "Teno"));
    EXPECT_FALSE(opensWith(kApplication, "Else"));
    EXPECT_FALSE(opensWith(kUserVersion, std::string("\0\0\0\x63", 4)));
}

} // namespace
} // namespace tenon::remote
