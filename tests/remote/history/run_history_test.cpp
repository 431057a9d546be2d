// SPDX-License-Identifier: Apache-2.0
// The run history keeps records across openings and sets files aside that are damaged.
#include "remote/history/run_history.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

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
            .artifact = "3f56",
            .runsMs = {1.5, 1.25, 1.75},
            .hygiene = "{}",
            .calls = {{"conv 3x3", 0.5}, {"two\nlines", 0.25}}};
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
    EXPECT_EQ((*newest)[0].artifact, "3f56");
    ASSERT_EQ((*newest)[0].calls.size(), 2u);
    EXPECT_EQ((*newest)[0].calls[0].title, "conv 3x3");
    EXPECT_EQ((*newest)[0].calls[1].title, "two lines");
    EXPECT_EQ((*newest)[0].calls[1].ms, 0.25);
    EXPECT_EQ((*history)->recent(10, "odd")->size(), 2u);
    EXPECT_EQ((*history)->recent(10, "none")->size(), 0u);
}

TEST(RunHistory, takesOverFilesOfTheVersionBefore)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.db");
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    const char* old = "PRAGMA application_id=1415933551; PRAGMA user_version=1;"
                      "CREATE TABLE run(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, model_name "
                      "TEXT, model_hash TEXT, target TEXT, executor TEXT, board TEXT, tool_version "
                      "TEXT, threads INTEGER, opt_level INTEGER, runs_ms BLOB, hygiene TEXT);"
                      "INSERT INTO run(time, model_hash, hygiene) VALUES(1, 'old', '{}')";
    ASSERT_EQ(sqlite3_exec(database, old, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    for (int round = 0; round < 2; ++round) {
        const auto history = RunHistory::open(path);
        ASSERT_TRUE(history) << history.error().text();
        ASSERT_TRUE((*history)->add(record(2 + round, "new")));
    }
    const auto history = RunHistory::open(path);
    ASSERT_TRUE(history);
    EXPECT_EQ((*history)->recent(10, "new")->size(), 2u);
    const auto kept = (*history)->recent(10, "old");
    ASSERT_EQ(kept->size(), 1u);
    EXPECT_EQ((*kept)[0].artifact, "");
    EXPECT_EQ((*kept)[0].hygiene, "{}");
    EXPECT_TRUE((*kept)[0].calls.empty());
}

TEST(RunHistory, refusesWhatItCannotMake)
{
    const test::TemporaryFolder folder;
    EXPECT_FALSE(RunHistory::open(folder.file("no/such/folder.db")));
}

/// A history of one record with `bytes` written over it at `offset`.
std::string damagedHistory(const test::TemporaryFolder& folder, std::streamoff offset,
                           const std::string& bytes)
{
    const std::string path = folder.file("history.sqlite");
    {
        const auto history = RunHistory::open(path);
        EXPECT_TRUE(history && (*history)->add(record(1, "one")));
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset) << bytes;
    return path;
}

TEST(RunHistory, saysWhichFileCannotBeOpened)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.sqlite");
    for (const bool isLoop : {false, true}) {
        std::filesystem::remove(path);
        if (isLoop)
            std::filesystem::create_symlink("history.sqlite", path);
        else
            std::filesystem::create_directory(path);
        const auto history = RunHistory::open(path);
        ASSERT_FALSE(history);
        EXPECT_NE(history.error().text().find(path), std::string::npos) << history.error().text();
    }
}

TEST(RunHistory, setsADamagedFileAsideOnceAndSaysWhere)
{
    constexpr std::streamoff kApplication = 68; // of SQLite's file format
    for (const auto& [offset, bytes] : std::vector<std::pair<std::streamoff, std::string>>{
             {0, std::string(100, 'x')},        // no database at all
             {100, std::string(200, '\xff')},   // the list of tables
             {4096, std::string(4096, '\x5a')}, // the records
             {kApplication, "Else"}}) {         // of another program
        const test::TemporaryFolder folder;
        const std::string path = damagedHistory(folder, offset, bytes);
        const auto history = RunHistory::open(path);
        ASSERT_TRUE(history) << offset << ": " << history.error().text();
        ASSERT_TRUE((*history)->note()) << offset;
        const std::string& said = (*history)->note()->message;
        EXPECT_NE(said.find(path + ".damaged"), std::string::npos) << said;
        EXPECT_EQ((*history)->note()->severity, core::Severity::Warning);
        EXPECT_TRUE((*history)->add(record(2, "two")));
        const auto again = RunHistory::open(path);
        ASSERT_TRUE(again);
        EXPECT_FALSE((*again)->note()); // once
        EXPECT_EQ((*again)->recent(10)->size(), 1u);
        EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
        EXPECT_FALSE(std::filesystem::exists(path + ".damaged-2"));
    }
}

TEST(RunHistory, writesOverNothingThatWasSetAside)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.sqlite");
    for (int i = 0; i < 3; ++i) {
        std::ofstream(path) << std::string(5000, 'x') << i;
        const auto history = RunHistory::open(path);
        ASSERT_TRUE(history && (*history)->note());
    }
    for (const char* end : {".damaged", ".damaged-2", ".damaged-3"})
        EXPECT_TRUE(std::filesystem::exists(path + end)) << end;
}

TEST(RunHistory, isSetAsideByOneOfSeveralPrograms)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("history.sqlite");
    std::ofstream(path) << std::string(5000, 'x');
    std::atomic<int> notes = 0;
    std::vector<std::jthread> programs;
    for (int i = 0; i < 8; ++i)
        programs.emplace_back([&] {
            const auto history = RunHistory::open(path);
            ASSERT_TRUE(history) << history.error().text();
            notes += (*history)->note() ? 1 : 0;
            EXPECT_TRUE((*history)->add(record(1, "one")));
        });
    programs.clear();
    EXPECT_EQ(notes, 1);
    EXPECT_EQ((*RunHistory::open(path))->recent(100)->size(), 8u);
}

TEST(RunHistory, refusesNewerVersionsAndLeavesThemAlone)
{
    constexpr std::streamoff kUserVersion = 60; // of SQLite's file format
    const test::TemporaryFolder folder;
    const std::string path = damagedHistory(folder, kUserVersion, std::string("\0\0\0\x63", 4));
    EXPECT_FALSE(RunHistory::open(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".damaged"));
}

} // namespace
} // namespace tenon::remote
