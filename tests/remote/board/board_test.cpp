// SPDX-License-Identifier: Apache-2.0
// Boards as configured: the list on disk, profiles, and what the text of a probe says.
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/target/target.h"
#include "remote/board/board_facts.h"
#include "remote/board/board_store.h"
#include "remote/board/profile.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace tenon::remote {
namespace {

using core::DiagnosticCode;

Board pi()
{
    return {.name = "pi",
            .kind = BoardKind::Ssh,
            .target = "llvm -mtriple=aarch64-linux-gnu",
            .host = "raspberry",
            .port = 2222,
            .user = "me",
            .identityFile = "/keys/id",
            .summary = "a board",
            .threads = 4};
}

TEST(BoardStore, keepsBoardsInOrderBesideThisComputer)
{
    const test::TemporaryFolder folder;
    const BoardStore store(folder.file("config"));
    ASSERT_TRUE(store.list());
    EXPECT_EQ((*store.list())->size(), 1u);
    EXPECT_EQ((*store.list())->front().name, kThisComputer);
    ASSERT_TRUE(store.add(pi()));
    const Board farm{
        .name = "farm", .kind = BoardKind::TrackerKey, .host = "::1", .port = 9190, .key = "pi4"};
    ASSERT_TRUE(store.add(farm));
    const BoardStore again(folder.file("config"));
    const auto list = again.list();
    ASSERT_TRUE(list) << list.error().text();
    ASSERT_EQ((*list)->size(), 3u);
    const Board& read = (**list)[1];
    EXPECT_EQ(read.address(), "me@raspberry:2222");
    EXPECT_EQ(read.identityFile, "/keys/id");
    EXPECT_EQ(read.threads, 4u);
    EXPECT_EQ((**list)[2].key, "pi4");
    ASSERT_TRUE(again.remove("pi"));
    EXPECT_EQ((*store.list())->size(), 2u);
}

TEST(BoardStore, keepsWhatASerialBoardNeeds)
{
    const test::TemporaryFolder folder;
    const BoardStore store(folder.file("config"));
    const Board nucleo{.name = "nucleo",
                       .kind = BoardKind::Serial,
                       .target = "c -mcpu=cortex-m4",
                       .host = "/dev/ttyACM0",
                       .threads = 1,
                       .baud = 921600,
                       .project = "/boards/nucleo",
                       .flash = "st-flash write {image} 0x8000000",
                       .flashBytes = 1 << 20,
                       .ramBytes = 128 << 10};
    ASSERT_TRUE(store.add(nucleo));
    const auto read = BoardStore(folder.file("config")).find("nucleo");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->address(), "/dev/ttyACM0 at 921600 baud");
    EXPECT_EQ(read->project, nucleo.project);
    EXPECT_EQ(read->flash, nucleo.flash);
    EXPECT_EQ(read->flashBytes, nucleo.flashBytes);
    EXPECT_EQ(read->ramBytes, nucleo.ramBytes);
    EXPECT_FALSE(read->isEmulated());

    const auto refused = [&](const std::function<void(Board&)>& change, const char* why) {
        Board board = nucleo;
        board.name = "other";
        change(board);
        const auto added = store.add(board);
        ASSERT_FALSE(added) << why;
        EXPECT_NE(added.error().message.find(why), std::string::npos) << added.error().message;
    };
    refused([](Board& b) { b.project.clear(); }, "needs a project");
    refused([](Board& b) { b.project = "here"; }, "no full path");
    refused([](Board& b) { b.target = "llvm"; }, "runs C source");
    refused([](Board& b) { b.baud = 7; }, "no speed of 7 baud");
    refused([](Board& b) { b.host.clear(); }, "has no host");
}

TEST(BoardStore, refusesWhatCannotBe)
{
    const test::TemporaryFolder folder;
    const BoardStore store(folder.path());
    ASSERT_TRUE(store.add(pi()));
    EXPECT_EQ(store.add(pi()).error().code, DiagnosticCode::BadArgument);
    EXPECT_EQ(store.find("pie").error().code, DiagnosticCode::UnknownName);
    EXPECT_NE(store.find("pie").error().message.find("pi"), std::string::npos);
    EXPECT_FALSE(store.remove("local"));
    EXPECT_FALSE(store.update({.name = "none", .kind = BoardKind::Ssh, .host = "h"}));
    std::vector<Board> wrong(8, pi());
    wrong[0].name = "a b";
    wrong[1].name = "";
    wrong[2].name = "local";
    wrong[3].host = "-oProxyCommand=x";
    wrong[4].user = "x\ny";
    wrong[5].port = 70000;
    wrong[6].host = "";
    wrong[7].kind = BoardKind::TrackerKey; // without a key
    for (size_t i = 0; i < wrong.size(); ++i) {
        if (i > 2) wrong[i].name = "other";
        EXPECT_EQ(checkBoard(wrong[i]).error().code, DiagnosticCode::BadArgument) << i;
        EXPECT_FALSE(store.add(wrong[i])) << i;
    }
}

TEST(BoardStore, setsADamagedFileAsideAndKeepsWhatCanBeRead)
{
    const std::string good =
        R"({"name": "pi", "kind": "ssh", "host": "h", "target": "llvm -mcpu=generic"})";
    for (const std::string& text :
         {std::string("{"), std::string("[]"), std::string("{\"version\": 1}"),
          std::string("{\"version\": \"1\", \"boards\": []}"),
          std::string("{\"version\": 1, \"boards\": [3]}"),
          "{\"version\": 1, \"boards\": [" + good + ", {\"name\": \"x\", \"port\": \"a\"}]}",
          "{\"version\": 1, \"boards\": [{\"name\": \"x\", \"kind\": \"what\"}, " + good + "]}"}) {
        const test::TemporaryFolder folder;
        const std::string path = folder.file("boards.json"), aside = path + ".damaged";
        std::vector<std::string> told;
        const BoardStore store(folder.path(),
                               [&](const core::Diagnostic& note) { told.push_back(note.text()); });
        ASSERT_TRUE(core::writeFileAtomically(path, text));
        ASSERT_TRUE(core::writeFileAtomically(aside, "older"));
        const size_t readable = text.find("pi") == std::string::npos ? 0 : 1;
        const auto boards = store.list();
        ASSERT_TRUE(boards) << text;
        EXPECT_EQ((*boards)->size(), 1 + readable) << text;
        ASSERT_EQ(told.size(), 1u) << text;
        EXPECT_NE(told[0].find("renamed to `" + aside + "-2`"), std::string::npos) << told[0];
        EXPECT_EQ(*core::readFile(aside + "-2"), text);
        EXPECT_EQ(*core::readFile(aside), "older");
        Board other = pi();
        other.name = "other";
        EXPECT_TRUE(store.add(other)) << text;
        EXPECT_EQ((*BoardStore(folder.path()).list())->size(), 2 + readable) << text;
        EXPECT_EQ(told.size(), 1u) << text;
    }
}

TEST(BoardStore, leavesTheFileOfANewerVersionAlone)
{
    const test::TemporaryFolder folder;
    const BoardStore store(folder.path());
    const std::string text = "{\"version\": 9, \"boards\": []}";
    ASSERT_TRUE(core::writeFileAtomically(folder.file("boards.json"), text));
    EXPECT_EQ(store.list().error().code, DiagnosticCode::BadText);
    EXPECT_FALSE(store.add(pi()));
    EXPECT_EQ(*core::readFile(folder.file("boards.json")), text);
}

TEST(BoardStore, losesNothingWhenProgramsAddAtOnce)
{
    const test::TemporaryFolder folder;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 5; ++k) {
                Board board = pi();
                board.name = "b" + std::to_string(i) + "-" + std::to_string(k);
                EXPECT_TRUE(BoardStore(folder.path()).add(board));
            }
        });
    threads.clear();
    EXPECT_EQ((*BoardStore(folder.path()).list())->size(), 21u);
}

TEST(BoardProfile, hasTargetsThatParse)
{
    const auto profiles = boardProfiles();
    ASSERT_TRUE(profiles) << profiles.error().text();
    EXPECT_GE(profiles->size(), 12u);
    for (const BoardProfile& each : *profiles) {
        const auto target = core::parseTarget(each.target);
        EXPECT_TRUE(target) << each.name << ": " << target.error().text();
        EXPECT_GT(each.ramBytes, 0) << each.name;
        EXPECT_EQ(each.system == "bare-metal", each.flashBytes > 0) << each.name;
    }
    EXPECT_EQ(findProfile("rpi4")->title, "Raspberry Pi 4 Model B");
    EXPECT_EQ(findProfile("rpi44").error().code, DiagnosticCode::UnknownName);
}

/// What the probe script prints on an emulated Raspberry Pi 4.
const std::string kPi4 = "noise of a login shell\n"
                         "== machine\naarch64\n== kernel\nLinux 6.1.21-v8+\n"
                         "== model\nRaspberry Pi 4 Model B Rev 1.1\n== cores\n4\n"
                         "== cpuinfo\nprocessor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
                         "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n"
                         "== meminfo\nMemTotal:        3884328 kB\nMemAvailable:    3500000 kB\n"
                         "== libc\nldd (Debian GLIBC 2.36-9+rpt2) 2.36\n"
                         "== disk\nFilesystem 1024-blocks Used Available Capacity Mounted on\n"
                         "/dev/root 30000000 1 20000000 1% /\n"
                         "== governor\nondemand\n== frequency\n1500000\n== temperature\n48200\n"
                         "== load\n0.12 0.10 0.08 1/123 456\n== something new\nx\n";

TEST(Probe, readsARaspberryPi)
{
    const auto facts = parseProbe(kPi4);
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_EQ(facts->cpu, "cortex-a72");
    EXPECT_TRUE(facts->hasFeature("crc32"));
    EXPECT_FALSE(facts->hasFeature("asimddp"));
    EXPECT_EQ(facts->ramBytes, int64_t{3884328} * 1024);
    EXPECT_EQ(facts->freeDiskBytes, int64_t{20000000} * 1024);
    EXPECT_EQ(facts->libc, "glibc 2.36");
    EXPECT_DOUBLE_EQ(facts->clockMhz, 1500);
    EXPECT_DOUBLE_EQ(facts->temperatureC, 48.2);
    EXPECT_DOUBLE_EQ(facts->load, 0.12);
    EXPECT_EQ(*proposedTarget(*facts),
              "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4");
    EXPECT_EQ(summaryLine(*facts), "Raspberry Pi 4 Model B Rev 1.1, Cortex-A72, 4 cores, 3.70 GiB");
    for (const Check& check : probeChecklist(*facts)) {
        EXPECT_NE(check.verdict, Verdict::Bad) << check.subject;
        EXPECT_EQ(check.verdict == Verdict::Doubtful, check.subject == "clock") << check.subject;
    }
}

TEST(Probe, proposesWhatOtherMachinesCanDo)
{
    const auto target = [](const std::string& text) { return *proposedTarget(*parseProbe(text)); };
    EXPECT_EQ(target("== machine\nriscv64\n== cores\n4\n== cpuinfo\nprocessor\t: 0\n"
                     "isa\t: rv64imafdcv_zba_zbb\n"),
              "llvm -mtriple=riscv64-linux-gnu -mattr=+c,+d,+f,+v,+zba,+zbb,+m,+a -num-cores=4");
    EXPECT_EQ(target("== machine\narmv7l\n== hardfloat\nyes\n== cpuinfo\nprocessor : 0\n"
                     "CPU implementer : 0x41\nCPU part : 0xc08\n"),
              "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a8 -num-cores=1");
    EXPECT_EQ(target("== machine\narmv7l\n== hardfloat\nno\n"),
              "llvm -mtriple=armv7-linux-gnueabi");
    EXPECT_EQ(target("== machine\nx86_64\n== cores\n2\n== cpuinfo\nflags : fpu avx2 fma\n"),
              "llvm -mtriple=x86_64-linux-gnu -mattr=+avx2,+fma -num-cores=2");
    EXPECT_EQ(proposedTarget(*parseProbe("== machine\nsparc64\n")).error().code,
              DiagnosticCode::UnsupportedTarget);
    for (const std::string& each :
         {target("== machine\nriscv64\n"), target("== machine\naarch64\n"), target(kPi4)})
        EXPECT_TRUE(core::parseTarget(each)) << each;
}

TEST(Probe, takesTheProcessorsThatMayBeUsed)
{
    const auto facts = [](const std::string& more) { return *parseProbe(kPi4 + more); };
    EXPECT_EQ(facts("").usableCores(), 4u);
    EXPECT_EQ(facts("== allowed\n0-3\n== quota\nmax 100000\n").usableCores(), 4u);
    EXPECT_EQ(facts("== allowed\n0,2\n").usableCores(), 2u);
    EXPECT_EQ(facts("== allowed\n0-3\n== quota\n150000 100000\n100000 100000\n").usableCores(), 1u);
    // A board that names cores it has not, and one that names none.
    const BoardFacts lying =
        *parseProbe("== machine\naarch64\n== cores\n1000000\n== allowed\n0-1\n");
    EXPECT_EQ(lying.usableCores(), 2u);
    EXPECT_TRUE(proposedTarget(lying)->ends_with("-num-cores=2"));
    EXPECT_TRUE(proposedTarget(*parseProbe("== machine\naarch64\n== cores\n1000000\n"))
                    ->ends_with("-num-cores=256"));
    EXPECT_EQ(parseProbe("== machine\naarch64\n== allowed\n0-2\n")->usableCores(), 3u);
    const auto checks = probeChecklist(facts("== allowed\n0\n"));
    EXPECT_TRUE(std::any_of(checks.begin(), checks.end(), [](const Check& check) {
        return check.subject == "cores" && check.outcome == "1 of 4 may be used";
    }));
}

TEST(Probe, survivesAnythingABoardMaySay)
{
    EXPECT_EQ(parseProbe("").error().code, DiagnosticCode::BoardFailure);
    EXPECT_EQ(parseProbe("This account is not available.\n").error().code,
              DiagnosticCode::BoardFailure);
    for (size_t cut = 0; cut < kPi4.size(); ++cut) {
        const auto facts = parseProbe(std::string_view(kPi4).substr(0, cut));
        if (!facts) continue;
        EXPECT_FALSE(probeChecklist(*facts).empty());
        EXPECT_FALSE(summaryLine(*facts).empty());
    }
    const auto odd = parseProbe("== machine\naarch64\n== cores\n-3\n== meminfo\nMemTotal: x\n"
                                "== disk\none\ntwo\n== load\n\n== cpuinfo\nCPU part\n:\n");
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->cores, 0u);
    EXPECT_EQ(odd->freeDiskBytes, -1);
}

} // namespace
} // namespace tenon::remote
