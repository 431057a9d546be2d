// SPDX-License-Identifier: Apache-2.0
// How many threads a deployment compiles for and runs with, and what it says about it.
#include "core/base/processors.h"
#include "tests/remote/deploying.h"
#include "tests/support/environment.h"

#include <sched.h>

namespace tenon::remote {
namespace {

constexpr const char* kHere = "llvm -mtriple=x86_64-linux-gnu";

class DeployThreads : public Deploying
{
protected:
    /// On a board of this target, with `asked` threads; what the builder was told to compile for
    /// is in m_target.
    DeployReportPtr deployTo(Board board, const test::Sshd& sshd, unsigned asked = 0)
    {
        DeployRequest wanted = request();
        wanted.threads = asked;
        wanted.build = [&, build = wanted.build](const std::string& target, JobContext& job) {
            m_target = target;
            return build(target, job);
        };
        return Deployer(std::move(board), environment(sshd)).deploy(wanted, m_job);
    }
    /// What is said of threads where the model was loaded.
    std::string loaded(const DeployReportPtr& report)
    {
        EXPECT_FALSE(report->error) << report->error->text();
        const std::string said = report->threads.text();
        EXPECT_TRUE(step(*report, DeployPhase::Load).detail.starts_with(said));
        return said;
    }

    std::string m_target;
};

TEST_F(DeployThreads, takeTheTargetsCoresAsFarAsTheBoardGivesThem)
{
    const test::Sshd sshd(homeLine());
    Board one = board(sshd);
    one.target = std::string(kHere) + " -num-cores=1";
    EXPECT_EQ(loaded(deployTo(one, sshd)), "1 thread: -num-cores of the target");
    EXPECT_EQ(m_target, one.target);

    Board many = board(sshd);
    many.target = std::string(kHere) + " -num-cores=200";
    const DeployReportPtr report = deployTo(many, sshd);
    const unsigned usable = core::usableProcessors();
    EXPECT_EQ(loaded(report),
              std::to_string(usable) + (usable == 1 ? " thread" : " threads") +
                  ": the system there lets no more processors be used; the kernels are shaped for "
                  "200 (-num-cores of the target)");
    EXPECT_EQ(report->checks.back().subject, "threads");
    EXPECT_EQ(report->checks.back().verdict, Verdict::Doubtful);
    const std::string insisted = loaded(deployTo(many, sshd, 5));
    EXPECT_EQ(insisted.substr(0, insisted.find(", on")),
              "5 threads: --threads, where the target has -num-cores=200");
}

TEST_F(DeployThreads, askTheBoardWhenNobodyKnowsItsCores)
{
    const test::Sshd sshd(homeLine());
    Board plain = board(sshd);
    plain.target = kHere;
    const DeployReportPtr report = deployTo(plain, sshd);
    const unsigned usable = core::usableProcessors();
    EXPECT_EQ(report->facts.usableCores(), usable);
    EXPECT_EQ(m_target, std::string(kHere) + " -num-cores=" + std::to_string(usable));
    EXPECT_EQ(report->target, m_target);
    EXPECT_EQ(loaded(report), std::to_string(usable) + (usable == 1 ? " thread" : " threads") +
                                  ": -num-cores of the target");
}

/// The board was probed, or a profile says it: nothing needs to be asked before compiling.
TEST_F(DeployThreads, takeWhatIsKnownOfTheBoard)
{
    const test::Sshd sshd(homeLine());
    Board known = board(sshd);
    known.target = kHere;
    known.threads = 1;
    EXPECT_EQ(loaded(deployTo(known, sshd)), "1 thread: -num-cores of the target");
    EXPECT_EQ(m_target, std::string(kHere) + " -num-cores=1");
}

/// A board whose login may use one processor of several.
TEST_F(DeployThreads, keepToTheProcessorsOfTheLogin)
{
    TENON_NEED(core::usableProcessors() > 1, "processors", "this computer has one processor");
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(static_cast<size_t>(first), &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(first), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const test::Sshd sshd(homeLine()); // inherits the set
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    Board plain = board(sshd);
    plain.target = kHere;
    const DeployReportPtr report = deployTo(plain, sshd);
    EXPECT_EQ(m_target, std::string(kHere) + " -num-cores=1");
    EXPECT_GT(report->facts.cores, report->facts.usableCores());
    EXPECT_EQ(loaded(report), "1 thread: -num-cores of the target");
    bool isSaid = false;
    for (const Check& check : report->checks)
        isSaid |= check.subject == "cores" && check.outcome.starts_with("1 of ");
    EXPECT_TRUE(isSaid);
}

} // namespace
} // namespace tenon::remote
