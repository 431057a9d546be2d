// SPDX-License-Identifier: Apache-2.0
// When two measurements of a model may be called faster and slower.
#include "remote/history/compare_runs.h"
#include "remote/measure/hygiene.h"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::remote {
namespace {

struct State
{
    Hygiene hygiene{.cpuModel = "cortex-a72",
                    .governor = "performance",
                    .loadAverage = 0.2,
                    .clockMhz = 1500,
                    .temperatureC = 50,
                    .cores = 4,
                    .isPinned = true,
                    .involuntarySwitches = 2};
    RunRecord record{.target = "llvm", .board = "pi", .threads = 4, .artifact = "a"};
};

/// Ten samples within 2 % of `ms`.
RunRecord run(double ms, const std::function<void(State&)>& change = {})
{
    State state;
    if (change) change(state);
    RunRecord out = state.record;
    for (int i = 0; i < 10; ++i) out.runsMs.push_back(ms * (1 + 0.002 * i));
    if (out.hygiene.empty()) out.hygiene = hygieneJson(state.hygiene);
    return out;
}

void another(State& state) { state.record.artifact = "b"; }

TEST(CompareRuns, tellsFasterBuildsOnTheSameMachine)
{
    const RunComparison faster = compareRuns(run(5, another), run(10));
    EXPECT_NEAR(faster.ratio, 0.5, 1e-9);
    EXPECT_EQ(faster.noReason, "");
    EXPECT_GT(compareRuns(run(20, another), run(10)).ratio, 1.9);
}

TEST(CompareRuns, saysNothingWhereIntervalsOverlap)
{
    const RunComparison same = compareRuns(run(10.05, another), run(10));
    EXPECT_EQ(same.ratio, 0);
    EXPECT_EQ(same.noReason, "no difference shown");
}

TEST(CompareRuns, neverCallsTheSameBuildFaster)
{
    EXPECT_EQ(compareRuns(run(5), run(10)).noReason, "the same build: something else changed");
}

/// A microcontroller's clock and caches are settings: they explain a verdict and prevent none.
TEST(CompareRuns, namesTheSettingsThatDifferBesideTheRatio)
{
    const auto at = [](const char* settings) {
        return [settings](State& state) {
            state.hygiene = {.cpuModel = "cortex-m7", .settings = settings};
            state.record.threads = 1;
        };
    };
    const RunComparison faster = compareRuns(run(5, at("50 MHz, instruction cache on")),
                                             run(10, at("25 MHz, instruction cache on")));
    EXPECT_NEAR(faster.ratio, 0.5, 1e-9);
    EXPECT_EQ(faster.settings, "at 25 MHz, now 50 MHz");
    EXPECT_EQ(compareRuns(run(5, at("25 MHz")), run(10, at("25 MHz"))).noReason,
              "the same build: something else changed");
    const RunRecord elsewhere = run(10, [](State& state) { state.record.threads = 1; });
    EXPECT_EQ(compareRuns(run(5, at("25 MHz")), elsewhere).noReason, "another processor");
}

TEST(CompareRuns, saysNothingUnderOtherConditions)
{
    const std::pair<const char*, std::function<void(State&)>> changes[] = {
        {"other load: 0.2, now 5.1", [](State& s) { s.hygiene.loadAverage = 5.1; }},
        {"other governor: performance, now powersave",
         [](State& s) { s.hygiene.governor = "powersave"; }},
        {"other clock in MHz: 1500, now 600", [](State& s) { s.hygiene.clockMhz = 600; }},
        {"hot, degrees C: 50, now 81", [](State& s) { s.hygiene.temperatureC = 81; }},
        {"another processor", [](State& s) { s.hygiene.cpuModel = "cortex-a53"; }},
        {"not tied to CPUs alike", [](State& s) { s.hygiene.isPinned = false; }},
        {"other work interrupted", [](State& s) { s.hygiene.involuntarySwitches = 400; }},
        {"conditions not known", [](State& s) { s.hygiene.loadAverage = -1; }},
        {"conditions not known", [](State& s) { s.record.hygiene = "no JSON"; }},
        {"conditions not known", [](State& s) { s.record.hygiene = R"({"load":"high"})"; }},
        {"other threads", [](State& s) { s.record.threads = 1; }},
        {"another target", [](State& s) { s.record.target = "llvm -mcpu=cortex-a53"; }},
    };
    for (const auto& [reason, change] : changes) {
        const RunComparison compared = compareRuns(run(5,
                                                       [&](State& state) {
                                                           another(state);
                                                           change(state);
                                                       }),
                                                   run(10));
        EXPECT_EQ(compared.ratio, 0) << reason;
        EXPECT_EQ(compared.noReason, reason);
    }
}

TEST(CompareRuns, saysNothingOfEmulatedProcessorsAndOfFewSamples)
{
    const auto emulated = [](State& state) {
        another(state);
        state.record.board = "pi (emulated)";
    };
    EXPECT_EQ(compareRuns(run(5, emulated), run(10, emulated)).noReason, "emulated: no verdict");
    RunRecord few = run(5, another);
    few.runsMs.resize(5);
    EXPECT_EQ(compareRuns(few, run(10)).noReason, "too few samples");
}

/// Of an emulated microcontroller one run tells all, and tells it of this board alone.
TEST(CompareRuns, TakesCountedInstructionsForExact)
{
    const auto counted = [](double millions, const std::string& board) {
        RunRecord out{.target = "c -mcpu=cortex-m4", .board = board};
        out.runsMs = {millions};
        return out;
    };
    const std::string m4 = "m4 (emulated)";
    EXPECT_TRUE(countsInstructions(counted(5, m4)));
    EXPECT_DOUBLE_EQ(compareRuns(counted(4, m4), counted(5, m4)).ratio, 0.8);
    EXPECT_EQ(compareRuns(counted(5, m4), counted(5, m4)).noReason, "as many instructions");
    EXPECT_EQ(compareRuns(counted(4, m4), counted(5, "m55 (emulated)")).noReason, "another board");
    EXPECT_FALSE(countsInstructions(counted(5, "m4"))); // at a serial line: its own clock
    RunRecord pi = counted(5, "pi (emulated)");
    pi.target = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
    EXPECT_FALSE(countsInstructions(pi));
}

} // namespace
} // namespace tenon::remote
