// SPDX-License-Identifier: Apache-2.0
// A board's RPC server that is stopped: its system still takes connections and acknowledges every
// packet, and nobody answers.
#include "remote/rpc/rpc_session.h"
#include "remote/ssh/tcp.h"
#include "tests/remote/deploying.h"
#include "tests/support/rpc_server.h"

#include <sys/socket.h>

#include <csignal>
#include <thread>

namespace tenon::remote {
namespace {

const char* const kEndless = "for (volatile int i = 0;;) ++i;\n";

class SilentServer : public Deploying
{
protected:
    void SetUp() override { TENON_NEED_TOOL("cc"); }
    static Board boardOf(const test::RpcServer& server)
    {
        return {.name = "rpc",
                .kind = BoardKind::RpcServer,
                .target = "as compiled",
                .host = "127.0.0.1",
                .port = server.port(),
                .key = "pi"};
    }
    DeployRequest timed(const std::string& source = test::aotSource())
    {
        DeployRequest out = request(source);
        out.timing = TimingRequest{.repeat = 2};
        return out;
    }
    DeployReportPtr deploy(const test::RpcServer& server, std::chrono::milliseconds silence,
                           const DeployRequest& wanted, const DeployObserver& observer = {})
    {
        DeployEnvironment here;
        here.ssh.longestSilence = silence; // instead of six seconds
        return Deployer(boardOf(server), here).deploy(wanted, m_job, observer);
    }
    /// Stops the server some time after `phase` has begun; null when it was given up before.
    DeployReportPtr deployStopping(DeployPhase phase, std::chrono::milliseconds silence,
                                   const DeployRequest& wanted, std::chrono::milliseconds after)
    {
        const test::RpcServer server({"--key", "pi"});
        std::jthread stopping;
        bool hasStopped = false;
        DeployReportPtr report = deploy(server, silence, wanted, [&](const DeployReportPtr& each) {
            if (step(*each, phase).state != StepState::Running || hasStopped) return;
            hasStopped = true;
            stopping = std::jthread([&] {
                std::this_thread::sleep_for(after);
                server.signalAll(SIGSTOP);
            });
            if (after == 0ms) stopping = {};
        });
        stopping = {};
        server.signalAll(SIGCONT);
        return hasStopped ? report : nullptr;
    }
    void expectNoticed(DeployPhase phase, const DeployRequest& wanted,
                       std::chrono::milliseconds after = 0ms)
    {
        DeployReportPtr report;
        for (const auto silence : kSilences)
            if (!report) report = deployStopping(phase, silence, wanted, after);
        ASSERT_TRUE(report) << phaseText(phase);
        ASSERT_TRUE(report->error) << phaseText(phase);
        EXPECT_EQ(report->error->code, BoardCode::LinkLost) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed) << report->error->text();
        expectUncertainty(*report, "may remain in the temporary folder of its server");
    }
};

TEST_F(SilentServer, isNoticedInEveryStepLongBeforeItsLimit)
{
    const DeployRequest wanted = timed();
    for (const DeployPhase phase : {DeployPhase::Upload, DeployPhase::Load, DeployPhase::Run,
                                    DeployPhase::Benchmark, DeployPhase::Fetch})
        expectNoticed(phase, wanted);
}

TEST_F(SilentServer, isNoticedWhileItComputes)
{
    expectNoticed(DeployPhase::Run, timed(test::sabotagedSource(kEndless)), 500ms);
}

TEST_F(SilentServer, isNoticedBeforeItLetsAnybodyIn)
{
    const test::RpcServer server({"--key", "pi"});
    server.signalAll(SIGSTOP);
    DeployRequest wanted = timed();
    wanted.limits.connect = std::chrono::hours(1);
    const DeployReportPtr report = deploy(server, 900ms, wanted);
    server.signalAll(SIGCONT);
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, BoardCode::ConnectTimedOut) << report->error->text();
}

TEST_F(SilentServer, isNotMistakenForOneThatComputes)
{
    DeployReportPtr report;
    for (const auto silence : kSilences) {
        const test::RpcServer server({"--key", "pi"});
        report = deploy(server, silence, timed(test::sabotagedSource(sleepingFor(2 * silence))));
        if (!report->error) return;
    }
    ADD_FAILURE() << report->error->text();
}

TEST_F(SilentServer, isAskedForNoSignsOfLifeBetweenCalls)
{
    const test::RpcServer server({"--key", "pi"});
    const auto fd = connectTcp("127.0.0.1", server.port(), 60s, m_job);
    ASSERT_TRUE(fd);
    const auto rpc = RpcSession::open(*fd, "pi", {60s, &m_job});
    ASSERT_TRUE(rpc) << rpc.error().text();
    ASSERT_TRUE((*rpc)->startHeart(60ms));
    std::this_thread::sleep_for(200ms);
    int unread = 0;
    EXPECT_EQ(recv(*fd, &unread, sizeof unread, MSG_PEEK | MSG_DONTWAIT), -1);
}

} // namespace
} // namespace tenon::remote
