// SPDX-License-Identifier: Apache-2.0
// Cancelled deployments: whatever the step, no process and no file of ours stays on the board.
#include "tests/remote/deploying.h"

#include <thread>

namespace tenon::remote {
namespace {

TEST_F(Deploying, canBeCancelledAtEachStep)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request();
    wanted.timing = TimingRequest{.repeat = 2};
    for (const DeployPhase phase : {DeployPhase::Compile, DeployPhase::Connect, DeployPhase::Probe,
                                    DeployPhase::Preflight, DeployPhase::Upload, DeployPhase::Load,
                                    DeployPhase::Run, DeployPhase::Benchmark, DeployPhase::Fetch}) {
        JobContext job;
        Deployer deployer(board(sshd), environment(sshd));
        const DeployReportPtr report =
            deployer.deploy(wanted, job, [&](const DeployReportPtr& each) {
                if (step(*each, phase).state == StepState::Running) job.requestStop();
            });
        ASSERT_TRUE(report->error) << phaseText(phase);
        EXPECT_EQ(report->error->code, DiagnosticCode::Cancelled) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed);
        EXPECT_FALSE(deployer.isConnected());
        EXPECT_TRUE(isBoardClean()) << phaseText(phase);
    }
}

TEST_F(Deploying, cancelsARunningKernel)
{
    const test::Sshd sshd(homeLine());
    const DeployRequest wanted =
        request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    JobContext job;
    std::jthread stop;
    const DeployReportPtr report =
        Deployer(board(sshd), environment(sshd))
            .deploy(wanted, job, [&](const DeployReportPtr& each) {
                const bool isRunning = step(*each, DeployPhase::Run).state == StepState::Running;
                if (!isRunning || stop.joinable()) return;
                stop = std::jthread([&] {
                    std::this_thread::sleep_for(100ms);
                    job.requestStop();
                });
            });
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, DiagnosticCode::Cancelled);
    EXPECT_TRUE(isBoardClean());
}

} // namespace
} // namespace tenon::remote
