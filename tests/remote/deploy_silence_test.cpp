// SPDX-License-Identifier: Apache-2.0
// A board whose SSH server hangs: its system still acknowledges every packet, and nobody answers.
#include "tests/remote/deploying.h"

#include <thread>

namespace tenon::remote {
namespace {

class Silent : public Deploying
{
protected:
    /// Deploys; from the begin of `phase` on nothing gets through any more.
    DeployReportPtr deployStalling(DeployPhase phase, const DeployRequest& wanted)
    {
        test::Sshd sshd;
        DeployEnvironment here = environment(sshd);
        here.ssh.longestSilence = 600ms; // instead of six seconds
        return Deployer(board(sshd), here).deploy(wanted, m_job, [&](const DeployReportPtr& each) {
            if (step(*each, phase).state == StepState::Running) sshd.stall();
        });
    }
    void expectNoticed(DeployPhase phase, DiagnosticCode code, const DeployRequest& wanted)
    {
        const auto start = std::chrono::steady_clock::now();
        const DeployReportPtr report = deployStalling(phase, wanted);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 30s) << phaseText(phase);
        ASSERT_TRUE(report->error) << phaseText(phase);
        EXPECT_EQ(report->error->code, code) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed) << report->error->text();
    }
};

TEST_F(Silent, isNoticedInEveryStepLongBeforeItsLimit)
{
    DeployRequest wanted = request();
    wanted.timing = TimingRequest{.repeat = 2};
    for (const DeployPhase phase :
         {DeployPhase::Upload, DeployPhase::Load, DeployPhase::Run, DeployPhase::Benchmark,
          DeployPhase::Fetch, DeployPhase::CleanUp})
        expectNoticed(phase, BoardCode::LinkLost, wanted);
}

TEST_F(Silent, isNoticedWhileItComputes)
{
    DeployRequest wanted = request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    expectNoticed(DeployPhase::Run, BoardCode::LinkLost, wanted);
}

TEST_F(Silent, isNoticedBeforeItLetsAnybodyIn)
{
    DeployRequest wanted = request();
    expectNoticed(DeployPhase::Connect, BoardCode::ConnectTimedOut, wanted);
}

TEST_F(Silent, isNotMistakenForABoardThatComputes)
{
    test::Sshd sshd;
    DeployEnvironment here = environment(sshd);
    here.ssh.longestSilence = 1200ms;
    DeployRequest wanted = request(test::sabotagedSource(
        "static int runs; if (++runs == 1) for (volatile long i = 0; i < 1500000000; ++i) {}\n"));
    const DeployReportPtr report = Deployer(board(sshd), here).deploy(wanted, m_job);
    EXPECT_FALSE(report->error) << report->error->text();
    EXPECT_TRUE(isBoardClean());
}

} // namespace
} // namespace tenon::remote
