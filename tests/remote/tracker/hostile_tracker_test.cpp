// SPDX-License-Identifier: Apache-2.0
// Trackers and their peers, one of which means ill.
#include "remote/rpc/rpc_session.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_client.h"
#include "remote/tracker/tracker_server.h"
#include "remote/tracker/tracker_state.h"
#include "remote/tracker/tracker_wire.h"
#include "runtime/rpc/protocol.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/environment.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace tenon::remote {
namespace {

using core::JobContext;
using Json = nlohmann::json;
using namespace std::chrono_literals;

const std::string kMagic("\x71\xF2\x02\x00", 4);

class HostilePeer : public testing::Test
{
protected:
    void SetUp() override
    {
        auto server = TrackerServer::listen({.port = 0, .greeting = 300ms});
        ASSERT_TRUE(server) << server.error().text();
        m_server = std::move(*server);
        m_thread = std::jthread([this] { EXPECT_TRUE(m_server->serve(m_job)); });
    }
    void TearDown() override
    {
        m_job.requestStop();
        for (const int fd : m_held) close(fd);
    }
    int dial()
    {
        const auto fd = connectTcp("127.0.0.1", m_server->port(), 60s, m_patient);
        EXPECT_TRUE(fd) << fd.error().text();
        m_held.push_back(fd ? *fd : -1);
        return m_held.back();
    }
    /// From an address of this computer.
    int dialFrom(const std::string& host)
    {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        inet_pton(AF_INET, host.c_str(), &address.sin_addr);
        EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(m_server->port()));
        EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        m_held.push_back(fd);
        return fd;
    }
    /// Says it back, and more, in a minute.
    static bool isAnswered(int fd)
    {
        const timeval patience{60, 0};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        std::string answer(5, 0);
        return recv(fd, answer.data(), answer.size(), MSG_WAITALL) == 5;
    }
    static void say(int fd, const std::string& bytes)
    {
        for (size_t at = 0; at < bytes.size();) {
            const ssize_t sent = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN) return; // hung up on: just as well
            at += sent > 0 ? static_cast<size_t>(sent) : 0;
        }
    }
    /// Somebody who is in no hurry still gets an answer; he tries again when a busy machine lets
    /// him greet too late.
    void expectServed()
    {
        const TrackerAddress address{.host = "127.0.0.1", .port = m_server->port()};
        auto summary = trackerSummary(address, 60s, m_patient);
        for (int i = 0; i < 100 && !summary; ++i) summary = trackerSummary(address, 60s, m_patient);
        ASSERT_TRUE(summary) << summary.error().text();
    }
    /// So does a server that offers itself.
    bool isOfferTaken()
    {
        for (int i = 0; i < 100; ++i) {
            const int server = dialFrom("127.0.0.100");
            say(server, kMagic + trackerMessage(R"([3,"pi",[9090,"pi:1"],null])"));
            if (isAnswered(server)) return true;
        }
        return false;
    }
    static bool isHungUp(int fd)
    {
        char byte = 0;
        for (int i = 0; i < 6000; ++i) {
            const ssize_t got = recv(fd, &byte, 1, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    std::unique_ptr<TrackerServer> m_server;
    JobContext m_job;
    JobContext m_patient;
    std::jthread m_thread;
    std::vector<int> m_held;
};

TEST_F(HostilePeer, inGreatNumbersHoldsNobodyUp)
{
    for (int i = 0; i < 900; ++i) {
        const int fd = dial();
        if (i % 2) say(fd, kMagic); // greets, and is silent then
    }
    expectServed();
}

/// 150 connections from each of 8 hosts: all of them wait for, or offer, what nobody wants.
TEST_F(HostilePeer, ofAFewHostsFillsNotAllPlaces)
{
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = std::min(files.rlim_max, rlim_t{8192});
    TENON_NEED(files.rlim_cur >= 4096 && setrlimit(RLIMIT_NOFILE, &files) == 0, "descriptors",
               "too few may be open");
    for (const bool isOffering : {false, true}) {
        for (int i = 0; i < 8 * 150; ++i) {
            const std::string host = "127.0.0." + std::to_string(10 + i / 150);
            const std::string number = std::to_string(i + 1);
            const std::string offer = "[3,\"x\",[" + number + ",\"x:" + number + "\"],null]";
            const int fd = dialFrom(host);
            say(fd, kMagic + trackerMessage(isOffering ? offer : R"([4,"none","me",0])"));
        }
        expectServed();
        EXPECT_TRUE(isOfferTaken());
        for (const int fd : m_held) close(fd);
        m_held.clear();
    }
}

TEST_F(HostilePeer, thatDripsIsHungUpOn)
{
    const int fd = dial();
    say(fd, kMagic.substr(0, 1));
    std::this_thread::sleep_for(200ms);
    say(fd, kMagic.substr(1, 1));
    EXPECT_TRUE(isHungUp(fd));
    expectServed();
}

TEST_F(HostilePeer, thatAsksWithoutListeningDoesNotBlockTheOthers)
{
    std::string questions = kMagic;
    for (int i = 0; i < 20'000; ++i) questions += trackerMessage("[6]");
    for (int i = 0; i < 8; ++i) {
        const int fd = dial();
        say(fd, questions.substr(0, 100'000));
    }
    expectServed();
}

TEST_F(HostilePeer, thatAnnouncesMuchIsHungUpOn)
{
    const int fd = dial();
    say(fd, kMagic + trackerNumber(kMaxTrackerRequest + 1));
    EXPECT_TRUE(isHungUp(fd));
}

std::string said(TrackerState& state, uint64_t from, const std::string& message)
{
    bool isGood = true;
    const auto replies = state.handle(from, message, 1000ms, isGood);
    return replies.empty() ? "" : replies.front().message;
}

TEST(HostileServer, cannotTakeOverAnothersEntry)
{
    TrackerState state({});
    state.open(1, "10.0.0.1", 0ms);
    state.open(2, "10.0.0.1", 0ms);
    state.open(3, "10.0.0.9", 0ms);
    EXPECT_EQ(said(state, 1, R"([5,{"key":"server:pi","addr":[null,9090]}])"), "0");
    EXPECT_EQ(said(state, 1, R"([3,"pi",[9090,"pi:1"],null])"), "0");
    EXPECT_EQ(said(state, 2, R"([3,"pi",[9090,"pi:evil"],null])"), "-1");
    EXPECT_EQ(said(state, 2, R"([3,"pi",[9091,"pi:1"],null])"), "-1"); // another's secret
    EXPECT_EQ(said(state, 3, R"([4,"pi","me",1])"), R"([0,["10.0.0.1",9090,"pi:1"]])");
    EXPECT_EQ(said(state, 2, R"([3,"pi",[9090,"pi:evil"],null])"), "-1"); // while it is lent, too
    EXPECT_EQ(said(state, 1, R"([3,"pi",[9090,"pi:2"],null])"), "0");
    // It came back by another connection, and knows what it offered before.
    EXPECT_EQ(said(state, 2, R"([3,"pi",[9090,"pi:3"],null,"leases","pi:guess"])"), "-1");
    EXPECT_EQ(said(state, 2, R"([3,"pi",[9090,"pi:3"],null,"leases","pi:2"])"), "1");
    EXPECT_EQ(said(state, 1, R"([3,"pi",[9090,"pi:4"],null])"), "-1");
    state.close(2);
    EXPECT_EQ(said(state, 3, R"([3,"pi",[9090,"pi:5"],null])"), "0"); // another host's port
    state.open(4, "10.0.0.1", 0ms);
    EXPECT_EQ(said(state, 4, R"([3,"pi",[9090,"pi:6"],null])"), "0"); // nobody has it any more
}

TEST(HostileServer, cannotOfferWhatCannotBe)
{
    TrackerState state({.allowsCustomAddress = true});
    state.open(1, "10.0.0.1", 0ms);
    const std::string longKey(257, 'k');
    for (const std::string port : {"0", "-1", "65536", "4294976386", "90.5", "\"90\""}) {
        EXPECT_EQ(said(state, 1, R"([3,"pi",[)" + port + R"(,"pi:1"],null])"), "-1") << port;
        EXPECT_EQ(said(state, 1, R"([5,{"key":"server:pi","addr":[null,)" + port + "]}]"), "-1");
    }
    EXPECT_EQ(said(state, 1, R"([3,")" + longKey + R"(",[9090,"pi:1"],null])"), "-1");
    EXPECT_EQ(said(state, 1, R"([3,"",[9090,"pi:1"],null])"), "-1");
    EXPECT_EQ(said(state, 1, R"([3,"pi",[9090,"pi:1"],")" + longKey + "\"]"), "-1");
    EXPECT_EQ(said(state, 1, R"([4,")" + longKey + R"(","me",1])"), "-1");
    EXPECT_EQ(said(state, 1, R"([4,"pi",")" + longKey + R"(",1])"), "-1");
    EXPECT_EQ(Json::parse(said(state, 1, "[6]"))[1]["queue_info"], Json::object());
}

TEST(HostileServer, cannotMakeTheSummaryLargerThanClientsRead)
{
    TrackerState state({});
    const std::string escaped = R"(\u0001)";
    std::string key;
    for (int i = 0; i < 250; ++i) key += escaped;
    for (uint64_t peer = 1; peer <= 100; ++peer) {
        state.open(peer, "10.0.0.1", 0ms);
        for (int i = 0; i < 64; ++i)
            said(state, peer,
                 "[4,\"" + key + std::to_string(peer * 64 + static_cast<uint64_t>(i)) +
                     "\",\"u\",1]");
        EXPECT_EQ(said(state, peer, R"([4,"one more","u",1])"), "-1");
    }
    const std::string summary = said(state, 1, "[6]");
    EXPECT_LT(summary.size(), static_cast<size_t>(kMaxTrackerMessage));
    EXPECT_FALSE(Json::parse(summary)[1]["queue_info"].empty());
}

/// Listens and answers each connection with the same bytes, whatever it is told; then it drips.
class Impostor
{
public:
    Impostor(std::string answer, std::chrono::milliseconds drip)
        : m_answer(std::move(answer))
    {
        m_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(bind(m_listener, generic, size), 0);
        EXPECT_EQ(listen(m_listener, 16), 0);
        EXPECT_EQ(getsockname(m_listener, generic, &size), 0);
        m_port = ntohs(address.sin_port);
        m_thread = std::jthread([this, drip](const std::stop_token& stop) { serve(stop, drip); });
    }
    Impostor(const Impostor&) = delete;
    Impostor& operator=(const Impostor&) = delete;
    ~Impostor()
    {
        m_thread.request_stop();
        shutdown(m_listener, SHUT_RDWR);
        m_thread.join();
        close(m_listener);
    }
    int port() const { return m_port; }

private:
    void serve(const std::stop_token& stop, std::chrono::milliseconds drip)
    {
        for (int fd = -1; (fd = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;
             close(fd)) {
            static_cast<void>(send(fd, m_answer.data(), m_answer.size(), MSG_NOSIGNAL));
            while (!stop.stop_requested() && send(fd, "x", 1, MSG_NOSIGNAL) == 1)
                std::this_thread::sleep_for(drip);
        }
    }
    std::string m_answer;
    int m_listener = -1;
    int m_port = 0;
    std::jthread m_thread;
};

TEST(HostileTracker, doesNoHarmToItsClients)
{
    const JobContext job;
    const std::string long1 = std::string(300, 'h');
    for (const std::string& answer :
         {std::string("no tracker at all"), kMagic + trackerNumber(-1),
          kMagic + trackerNumber(1 << 30),
          kMagic + trackerMessage("[0,{\"server_info\":[{\"key\":7}, 3, {\"key\":null}]}]"),
          kMagic + trackerMessage("[0,{\"server_info\":7}]"), kMagic + trackerMessage("[[[[[[[["),
          kMagic + trackerMessage("[0,{\"server_info\":[{\"key\":\"server:pi\"}]}]") +
              trackerMessage("[0,[\"127.0.0.1\",0,\"k\"],1]"),
          kMagic + trackerMessage("[0,{\"server_info\":[{\"key\":\"server:pi\"}]}]") +
              trackerMessage("[0,[\"127.0.0.1\",70000,\"k\"],1]"),
          kMagic + trackerMessage("[0,{\"server_info\":[{\"key\":\"server:pi\"}]}]") +
              trackerMessage("[0,[\"" + long1 + "\",9090,\"k\"],1]"),
          kMagic + trackerMessage("[0,{\"server_info\":[{\"key\":\"server:pi\"}]}]") +
              trackerMessage("[0,{\"a\":1}]")}) {
        const Impostor impostor(answer, 10ms);
        const auto lease =
            leaseServer({.host = "127.0.0.1", .port = impostor.port()}, {.key = "pi"}, 300ms, job);
        EXPECT_FALSE(lease) << answer;
    }
}

TEST(HostileTracker, cannotHoldAClientByDripping)
{
    const JobContext job;
    const Impostor impostor(kMagic + trackerNumber(1 << 20), 50ms); // a day's worth of them
    EXPECT_FALSE(trackerSummary({.host = "127.0.0.1", .port = impostor.port()}, 400ms, job));
}

TEST(HostileServerOfSessions, neitherHoldsAClientNorFillsItsMemory)
{
    const JobContext job;
    const std::string welcome = test::Stream().u32(kTenonRpcMagic).u32(7).raw("server:").bytes();
    for (const std::string& answer :
         {welcome + test::Stream().u64(0x7fffffff).bytes(), welcome,
          test::Stream().u32(kTenonRpcMagic).u32(1 << 20).bytes(), std::string("x")}) {
        const Impostor impostor(answer, 50ms);
        const auto fd = connectTcp("127.0.0.1", impostor.port(), 60s, job);
        ASSERT_TRUE(fd);
        EXPECT_FALSE(RpcSession::open(*fd, "client:", {400ms, &job})); // and comes back
    }
}

} // namespace
} // namespace tenon::remote
