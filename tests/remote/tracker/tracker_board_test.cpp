// SPDX-License-Identifier: Apache-2.0
// Real servers at a tracker: they offer themselves, serve one client after the other, come back
// after a restart of the tracker, and are deployed to.
#include "core/base/board_code.h"
#include "remote/deploy/deployer.h"
#include "remote/rpc/rpc_session.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_client.h"
#include "remote/tracker/tracker_server.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/rpc_server.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::Tensor;
using Json = nlohmann::json;
using namespace std::chrono_literals;

/// A tracker in a thread of its own.
class RunningTracker
{
public:
    explicit RunningTracker(int port = 0)
    {
        // Nobody is silent only because the machine is busy; a port may be taken for a moment.
        const TrackerServerOptions options{
            .port = port, .rules = {.clientSilence = 10min, .serverSilence = 10min}};
        auto server = TrackerServer::listen(options);
        for (int i = 0; i < 6000 && !server; ++i) {
            std::this_thread::sleep_for(10ms);
            server = TrackerServer::listen(options);
        }
        EXPECT_TRUE(server) << server.error().text();
        m_server = std::move(*server);
        m_port = m_server->port();
        m_thread = std::jthread([this] { EXPECT_TRUE(m_server->serve(m_job)); });
    }
    RunningTracker(const RunningTracker&) = delete;
    RunningTracker& operator=(const RunningTracker&) = delete;
    ~RunningTracker() { m_job.requestStop(); }

    TrackerAddress address() const { return {.host = "127.0.0.1", .port = m_port}; }
    std::string text() const { return address().text(); }

private:
    std::unique_ptr<TrackerServer> m_server;
    int m_port = 0;
    JobContext m_job;
    std::jthread m_thread;
};

class TrackerBoard : public testing::Test
{
protected:
    static std::vector<std::string> offered(const RunningTracker& tracker)
    {
        return {"--key", "pi4", "--tracker", tracker.text()};
    }
    core::Result<std::unique_ptr<TrackerLease>> lease(const RunningTracker& tracker,
                                                      std::chrono::milliseconds patience = 120s)
    {
        return leaseServer(tracker.address(), {.key = "pi4"}, patience, m_job);
    }
    core::Result<std::unique_ptr<RpcSession>> session(const RpcAddress& server)
    {
        const auto fd = connectTcp(server.host, server.port, 60s, m_job);
        if (!fd) return fd.error();
        return RpcSession::open(*fd, server.key, {60s, &m_job});
    }
    static bool answers(RpcSession& session)
    {
        return static_cast<bool>(session.globalFunction("tvm.rpc.server.upload"));
    }
    std::string waitForFree(const RunningTracker& tracker, int count)
    {
        Json summary;
        for (int i = 0; i < 6000; ++i) {
            summary = Json::parse(*trackerSummary(tracker.address(), 60s, m_job));
            const Json none{{"free", 0}};
            if (summary["queue_info"].value("pi4", none)["free"] == count) return "";
            std::this_thread::sleep_for(10ms);
        }
        return summary.dump();
    }
    DeployRequest request()
    {
        const std::string path =
            test::compileLibrary(m_folder.path(), "model" + std::to_string(++m_count),
                                 test::aotSource() + test::blobSource(test::aotBlob()));
        DeployRequest out;
        out.build = [path](const std::string&, JobContext&) -> core::Result<BuiltModel> {
            return BuiltModel{.path = path, .manifest = {.modelName = "test"}};
        };
        out.inputs = [](const core::Manifest&) -> core::Result<NamedTensors> {
            return NamedTensors{
                {"x", Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
        };
        out.timing = TimingRequest{.repeat = 3, .perCall = true};
        for (auto* limit : {&out.limits.connect, &out.limits.probe, &out.limits.upload,
                            &out.limits.load, &out.limits.run, &out.limits.cleanUp})
            *limit = 120s; // generous: nothing here waits for it
        return out;
    }
    void expectDeploys(const Board& board)
    {
        Deployer deployer(board, {});
        const DeployReportPtr report = deployer.deploy(request(), m_job);
        ASSERT_FALSE(report->error) << report->error->text();
        EXPECT_EQ(report->outputs.at(0).numbers(), (std::vector<double>{22, 44, 66, 28, 50, 72}));
        EXPECT_EQ(report->timing->runsMs.size(), 3u);
    }
    core::Diagnostic failure(const Board& board, std::chrono::milliseconds queue = 120s)
    {
        DeployRequest wanted = request();
        wanted.limits.queue = queue;
        Deployer deployer(board, {});
        const DeployReportPtr report = deployer.deploy(wanted, m_job);
        EXPECT_TRUE(report->error);
        return report->error.value_or(core::Diagnostic{});
    }
    static Board rpcBoard(int port, const std::string& key)
    {
        return {.name = "rpc",
                .kind = BoardKind::RpcServer,
                .target = "as compiled",
                .host = "127.0.0.1",
                .port = port,
                .key = key};
    }
    static Board trackerBoard(const RunningTracker& tracker, const std::string& key)
    {
        return {.name = "farm",
                .kind = BoardKind::TrackerKey,
                .target = "as compiled",
                .host = "127.0.0.1",
                .port = tracker.address().port,
                .key = key};
    }

    test::TemporaryFolder m_folder;
    JobContext m_job;
    int m_count = 0;
};

TEST_F(TrackerBoard, servesOneClientAfterTheOther)
{
    const RunningTracker tracker;
    test::RpcServer server(offered(tracker));
    EXPECT_EQ(server.nextLine(), "offered to " + tracker.text() + " as `pi4`");
    auto first = lease(tracker);
    ASSERT_TRUE(first) << first.error().text();
    auto mine = session((*first)->server());
    ASSERT_TRUE(mine) << mine.error().text();
    EXPECT_TRUE(answers(**mine));
    const auto second = lease(tracker, 300ms); // one board: one client
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, BoardCode::QueueTimedOut) << second.error().text();
    const Json summary = Json::parse(*trackerSummary(tracker.address(), 60s, m_job));
    EXPECT_EQ(summary["leases"][0]["lease"], (*first)->number());
    EXPECT_EQ(summary["leases"][0]["user"], "tenon");
    mine->reset();
    first->reset();
    const auto third = lease(tracker);
    ASSERT_TRUE(third) << third.error().text();
    auto again = session((*third)->server());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(answers(**again));
}

TEST_F(TrackerBoard, refusesWhoeverDidNotAskTheTracker)
{
    const RunningTracker tracker;
    test::RpcServer server(offered(tracker));
    server.nextLine();
    for (const char* key : {"", "pi4", "pi4:0.5"}) {
        const auto stranger = session({"127.0.0.1", server.port(), key});
        ASSERT_FALSE(stranger) << key;
        EXPECT_EQ(stranger.error().code, BoardCode::AuthFailure) << stranger.error().text();
    }
    auto given = lease(tracker); // the offer is still the same
    ASSERT_TRUE(given);
    const RpcAddress old = (*given)->server();
    {
        auto mine = session(old);
        ASSERT_TRUE(mine) << mine.error().text();
    }
    given->reset();
    auto next = lease(tracker);
    ASSERT_TRUE(next);
    EXPECT_NE((*next)->server().key, old.key);
    EXPECT_FALSE(session(old)); // a late client cannot drive a board that is somebody else's
    EXPECT_TRUE(session((*next)->server()));
}

TEST_F(TrackerBoard, takesTheServerBackFromAClientThatIsGone)
{
    const RunningTracker tracker;
    test::RpcServer server(offered(tracker));
    server.nextLine();
    auto given = lease(tracker);
    ASSERT_TRUE(given);
    auto mine = session((*given)->server());
    ASSERT_TRUE(mine) << mine.error().text();
    EXPECT_TRUE(answers(**mine));
    given->reset(); // the session stays open, as if its computer hung
    const auto next = lease(tracker);
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_FALSE(answers(**mine)); // ended there
    EXPECT_TRUE(session((*next)->server()));
}

TEST_F(TrackerBoard, comesBackAfterARestartOfTheTracker)
{
    auto tracker = std::make_unique<RunningTracker>();
    const int port = tracker->address().port;
    test::RpcServer server(offered(*tracker));
    test::RpcServer other(offered(*tracker));
    server.nextLine();
    other.nextLine();
    auto given = lease(*tracker);
    ASSERT_TRUE(given);
    auto mine = session((*given)->server());
    ASSERT_TRUE(mine);
    const auto used = lease(*tracker); // the other one
    ASSERT_TRUE(used);
    std::jthread waiting([&] { // in the queue when the tracker goes, and when it is back
        const auto third =
            leaseServer({.host = "127.0.0.1", .port = port}, {.key = "pi4"}, 120s, m_job);
        ASSERT_TRUE(third) << third.error().text();
        EXPECT_GT((*third)->number(), (*used)->number());
    });
    const auto isWaiting = [&] {
        const Json summary = Json::parse(*trackerSummary(tracker->address(), 60s, m_job));
        return summary["queue_info"].contains("pi4") && summary["queue_info"]["pi4"]["pending"] > 0;
    };
    for (int i = 0; i < 6000 && !isWaiting(); ++i) std::this_thread::sleep_for(10ms);
    tracker.reset();
    tracker = std::make_unique<RunningTracker>(port);
    waiting.join();
    EXPECT_TRUE(answers(**mine)); // a running session does not notice
    mine->reset();
    EXPECT_EQ(waitForFree(*tracker, 2), "");
}

TEST_F(TrackerBoard, isDeployedToLikeAnyOther)
{
    TENON_NEED_TOOL("cc");
    const RunningTracker tracker;
    test::RpcServer direct({"--key", "bench"});
    expectDeploys(rpcBoard(direct.port(), "bench"));
    test::RpcServer server(offered(tracker));
    server.nextLine();
    expectDeploys(trackerBoard(tracker, "pi4"));
    expectDeploys(trackerBoard(tracker, "pi4"));
    EXPECT_EQ(waitForFree(tracker, 1), "");
    EXPECT_EQ(server.filesLeft(), 0u);
}

TEST_F(TrackerBoard, saysWhatIsWrong)
{
    TENON_NEED_TOOL("cc");
    const auto expect = [](const core::Diagnostic& error, DiagnosticCode code, const char* text) {
        EXPECT_EQ(error.code, code) << error.text();
        EXPECT_NE(error.message.find(text), std::string::npos) << error.text();
    };
    auto tracker = std::make_unique<RunningTracker>();
    expect(failure(trackerBoard(*tracker, "pi4")), DiagnosticCode::UnknownName,
           "no server is registered");
    test::RpcServer server(offered(*tracker));
    server.nextLine();
    expect(failure(trackerBoard(*tracker, "pi5")), DiagnosticCode::UnknownName,
           "servers with the keys pi4");
    expect(failure(rpcBoard(server.port(), "wrong")), BoardCode::AuthFailure, "key");
    expect(failure(rpcBoard(tracker->address().port, "pi4")), DiagnosticCode::RpcFailure,
           "ended the link");
    expect(failure(trackerBoard(*tracker, "pi4"), 0ms), BoardCode::QueueTimedOut, "`pi4`");
    const Board farm = trackerBoard(*tracker, "pi4");
    tracker.reset();
    expect(failure(farm), BoardCode::BoardUnreachable, "the tracker");
}

/// A server whose protocol is newer.
TEST_F(TrackerBoard, namesBothVersionsWhenTheyDiffer)
{
    test::RpcServer server({"--key", "pi"});
    const auto fd = connectTcp("127.0.0.1", server.port(), 60s, m_job);
    ASSERT_TRUE(fd);
    const std::string hello = test::Stream().u32(0xFF271).u32(9).raw("client:pi").bytes();
    ASSERT_EQ(send(*fd, hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
    const std::string greeting =
        test::Stream().u64(4 + 8 + 5 + 4).u32(2).u64(5).raw("0.9.0").u32(0).bytes();
    ASSERT_EQ(send(*fd, greeting.data(), greeting.size(), 0),
              static_cast<ssize_t>(greeting.size()));
    std::string answer;
    const std::string wanted = "the client speaks protocol 0.9.0, this server 0.8.0";
    char byte;
    while (answer.find(wanted) == std::string::npos) {
        const ssize_t got = recv(*fd, &byte, 1, 0);
        if (got > 0)
            answer.push_back(byte);
        else if (got == 0 || errno != EAGAIN)
            break;
        else
            std::this_thread::sleep_for(1ms);
    }
    EXPECT_NE(answer.find(wanted), std::string::npos) << answer;
    close(*fd);
}

} // namespace
} // namespace tenon::remote
