// SPDX-License-Identifier: Apache-2.0
// A board whose SSH server hangs: its system still acknowledges every packet, and nobody answers.
#include "tests/remote/deploying.h"

#include <thread>

namespace tenon::remote {
namespace {

class Silent : public Deploying
{
protected:
    /// Deploys; from the begin of `phase` on nothing gets through any more. Null when it was given
    /// up before.
    DeployReportPtr deployStalling(DeployPhase phase, std::chrono::milliseconds silence,
                                   const DeployRequest& wanted)
    {
        test::Sshd sshd;
        bool hasStalled = false;
        DeployEnvironment here = environment(sshd);
        here.ssh.longestSilence = silence; // instead of six seconds
        DeployReportPtr report =
            Deployer(board(sshd), here).deploy(wanted, m_job, [&](const DeployReportPtr& each) {
                if (step(*each, phase).state != StepState::Running) return;
                sshd.stall();
                hasStalled = true;
            });
        return hasStalled ? report : nullptr;
    }
    void expectNoticed(DeployPhase phase, DiagnosticCode code, const DeployRequest& wanted)
    {
        DeployReportPtr report;
        for (const auto silence : kSilences)
            if (!report) report = deployStalling(phase, silence, wanted);
        ASSERT_TRUE(report) << phaseText(phase);
        ASSERT_TRUE(report->error) << phaseText(phase);
        EXPECT_EQ(report->error->code, code) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed) << report->error->text();
        if (phase != DeployPhase::Connect) // before it, nothing was put on the board
            expectUncertainty(*report, "/.tenon/run-");
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
    wanted.limits.connect = std::chrono::hours(1);
    expectNoticed(DeployPhase::Connect, BoardCode::ConnectTimedOut, wanted);
}

TEST_F(Silent, isNotMistakenForABoardThatComputes)
{
    DeployReportPtr report;
    for (const auto silence : kSilences) {
        test::Sshd sshd;
        DeployEnvironment here = environment(sshd);
        here.ssh.longestSilence = silence;
        const DeployRequest wanted = request(test::sabotagedSource(sleepingFor(2 * silence)));
        report = Deployer(board(sshd), here).deploy(wanted, m_job);
        EXPECT_TRUE(isBoardClean());
        if (!report->error) return;
    }
    ADD_FAILURE() << report->error->text();
}

} // namespace
} // namespace tenon::remote
