// SPDX-License-Identifier: Apache-2.0
// Who decides how many threads there are, in which order, and what is said about it.
#include "core/base/option_code.h"
#include "core/target/thread_choice.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

constexpr const char* kPi = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
constexpr const char* kPi4 = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4";

ThreadChoice choose(const std::string& target, const KnownCores& known)
{
    return chooseThreads(*parseTarget(target), known);
}

TEST(ThreadChoice, followsTheTargetAndNotThisComputer)
{
    EXPECT_EQ(choose(kPi4, {.thisComputer = 16}).text(), "4 threads: -num-cores of the target");
    EXPECT_EQ(choose("raspberry-pi/4b-aarch64", {.thisComputer = 16}).count, 4u);
    EXPECT_EQ(choose("llvm -num-cores=1", {.thisComputer = 16}).text(),
              "1 thread: -num-cores of the target");
    EXPECT_EQ(choose("llvm -mcpu=native", {.thisComputer = 16}).count, 16u);
    EXPECT_EQ(choose("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", {.thisComputer = 16}).count,
              1u);
}

TEST(ThreadChoice, prefersWhatIsAskedForThenTheTargetThenTheBoard)
{
    KnownCores known{.asked = 3, .thisComputer = 16, .board = 2};
    EXPECT_EQ(choose(kPi4, known).source, ThreadSource::Asked);
    known.asked = 0;
    EXPECT_EQ(choose(kPi4, known).source, ThreadSource::Target);
    EXPECT_EQ(choose(kPi, known).text(), "2 threads: the processors that may be used of the board");
    known.boardSource = ThreadSource::Profile;
    EXPECT_EQ(choose(kPi, known).text(), "2 threads: the cores of such boards");
    known.board = 0;
    EXPECT_EQ(choose(kPi, known).count, 1u);
}

TEST(ThreadChoice, saysWhenNobodyKnows)
{
    const auto remark = choose(kPi, {.thisComputer = 16}).remark();
    ASSERT_TRUE(remark);
    EXPECT_EQ(remark->code, OptionCode::ThreadCount);
    EXPECT_EQ(remark->severity, Severity::Note);
    EXPECT_EQ(remark->message, "1 thread: nothing says how many cores the target has; add "
                               "-num-cores or --threads");
    EXPECT_FALSE(choose(kPi4, {}).remark());
    EXPECT_FALSE(choose("c -mcpu=cortex-m4", {.asked = 4}).remark());
}

TEST(ThreadChoice, warnsOfMoreThreadsThanTheTargetHasCores)
{
    const ThreadChoice more = choose(kPi4, {.asked = 8});
    EXPECT_EQ(more.count, 8u);
    ASSERT_TRUE(more.remark());
    EXPECT_EQ(more.remark()->severity, Severity::Warning);
    EXPECT_EQ(more.text(), "8 threads: --threads, where the target has -num-cores=4");
    EXPECT_FALSE(choose(kPi4, {.asked = 1}).remark()); // fewer is a wish like any other
}

TEST(ThreadChoice, runsAnArtifactAsItWasCompiled)
{
    EXPECT_EQ(choose(kPi, {.artifact = 3}).text(), "3 threads: what the artifact was compiled for");
    EXPECT_EQ(choose(kPi4, {.artifact = 4}).text(), "4 threads: -num-cores of the target");
    EXPECT_EQ(choose(kPi4, {.board = 2, .artifact = 1}).count, 1u);
    EXPECT_EQ(choose(kPi4, {.asked = 2, .artifact = 4}).count, 2u);
}

TEST(ThreadChoice, staysBelowWhatTheSystemGivesUnlessAsked)
{
    ThreadChoice choice = choose(kPi4, {});
    choice.usable = 2;
    EXPECT_EQ(choice.running(), 2u);
    EXPECT_EQ(choice.text(),
              "2 threads: the system there lets no more processors be used; the kernels are shaped "
              "for 4 (-num-cores of the target)");
    choice = choose(kPi4, {.asked = 4});
    choice.usable = 2;
    EXPECT_EQ(choice.running(), 4u);
    EXPECT_EQ(choice.text(), "4 threads: --threads, on 2 that may be used there");
}

TEST(ThreadChoice, knowsWhatHasNoThreads)
{
    EXPECT_EQ(choose(kPi4, {.asked = 4, .thisComputer = 8, .board = 8, .hasThreads = false}).count,
              1u);
}

TEST(ThreadChoice, refusesTargetsWithImpossibleCores)
{
    for (const char* cores : {"0", "-4", "257", "1000000000000"}) {
        const auto target = parseTarget("llvm -num-cores=" + std::string(cores));
        ASSERT_FALSE(target) << cores;
        EXPECT_EQ(target.error().location.detail, "num-cores");
    }
}

} // namespace
} // namespace tenon::core
