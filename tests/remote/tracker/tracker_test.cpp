// SPDX-License-Identifier: Apache-2.0
// The tracker: bytes of the protocol, and a client through it.
#include "core/base/board_code.h"
#include "remote/ssh/tcp.h"
#include "remote/tracker/tracker_client.h"
#include "remote/tracker/tracker_server.h"
#include "remote/tracker/tracker_wire.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using Json = nlohmann::json;
using namespace std::chrono_literals;

class Tracker : public testing::Test
{
protected:
    void SetUp() override
    {
        auto server = TrackerServer::listen(
            {.port = 0,
             .rules = {.stopKey = "stop", .clientSilence = 10min, .serverSilence = 10min}});
        ASSERT_TRUE(server) << server.error().text();
        m_server = std::move(*server);
        m_thread = std::jthread([this] { EXPECT_TRUE(m_server->serve(m_job)); });
    }
    void TearDown() override { m_job.requestStop(); }

    TrackerAddress address() const { return {.host = "127.0.0.1", .port = m_server->port()}; }
    int dial() const { return *connectTcp("127.0.0.1", m_server->port(), 60s, m_patient); }
    static void say(int fd, const std::string& bytes)
    {
        EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    /// Exactly `size` bytes, or what came before the end.
    static std::string hear(int fd, size_t size)
    {
        std::string out;
        char byte;
        pollUntilReadable(fd);
        while (out.size() < size && recvOne(fd, byte)) out.push_back(byte);
        return out;
    }
    static bool recvOne(int fd, char& byte)
    {
        for (;;) {
            const ssize_t got = recv(fd, &byte, 1, 0);
            if (got > 0) return true;
            if (got == 0 || errno != EAGAIN) return false;
            pollUntilReadable(fd);
        }
    }
    static void pollUntilReadable(int) { std::this_thread::sleep_for(1ms); }
    int greeted() const
    {
        const int fd = dial();
        say(fd, std::string("\x71\xF2\x02\x00", 4));
        EXPECT_EQ(hear(fd, 4), std::string("\x71\xF2\x02\x00", 4));
        return fd;
    }
    static std::string ask(int fd, const std::string& json)
    {
        say(fd, trackerMessage(json));
        const std::string size = hear(fd, 4);
        return size.size() < 4 ? "" : hear(fd, static_cast<size_t>(readTrackerNumber(size)));
    }

    std::unique_ptr<TrackerServer> m_server;
    JobContext m_job;
    JobContext m_patient;
    std::jthread m_thread;
};

TEST_F(Tracker, speaksTheProtocolByteByByte)
{
    const int fd = dial();
    say(fd, std::string("\x71\xF2\x02\x00"
                        "\x03\x00\x00\x00[1]",
                        11));
    EXPECT_EQ(hear(fd, 9), std::string("\x71\xF2\x02\x00"
                                       "\x01\x00\x00\x00"
                                       "0",
                                       9));
    EXPECT_EQ(ask(fd, R"([3,"board",[9091,"board:0.5694332087271952"],null])"), "0");
    EXPECT_EQ(ask(fd, "[7]"), R"(["board:0.5694332087271952"])");
    EXPECT_EQ(ask(fd, R"([5,{"key":"server:board","addr":[null,9091]}])"), "0");
    const Json summary = Json::parse(ask(fd, "[6]"));
    EXPECT_EQ(summary[0], 0);
    EXPECT_EQ(summary[1]["queue_info"]["board"]["free"], 1);
    EXPECT_EQ(summary[1]["server_info"][0]["key"], "server:board");
    EXPECT_EQ(summary[1]["server_info"][0]["addr"], (Json{"127.0.0.1", 9091}));
    const int client = greeted();
    EXPECT_EQ(ask(client, R"([4,"board","me",1])"),
              R"([0,["127.0.0.1",9091,"board:0.5694332087271952"]])");
    EXPECT_EQ(ask(fd, "[7]"), "[]"); // handed out once
    close(client);
    close(fd);
}

TEST_F(Tracker, hangsUpOnWhateverIsNotTheProtocol)
{
    const std::string deep = R"([5,{"key":"server:k","addr":[null,)" + std::string(200'000, '[') +
                             std::string(200'000, ']') + "]}]";
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.0\r\n\r\n"), std::string("\x71\xF2\x02\x00\xff\xff\xff\x7f", 8),
          std::string("\x71\xF2\x02\x00\x05\x00\x00\x00[1,2,", 13),
          std::string("\x71\xF2\x02\x00\x04\x00\x00\x00[99]", 12),
          std::string("\x71\xF2\x02\x00\x03\x00\x00\x00[3]", 11),
          std::string("\x71\xF2\x02\x00", 4) + trackerMessage(deep)}) {
        const int fd = dial();
        say(fd, bytes);
        const std::string answer = hear(fd, 1000); // ends: hung up
        EXPECT_LE(answer.size(), 10u);
        close(fd);
    }
    const int fd = greeted(); // and still serves
    EXPECT_EQ(ask(fd, "[1]"), "0");
    EXPECT_EQ(ask(fd, R"([2,"wrong"])"), "-1");
    close(fd);
}

TEST_F(Tracker, givesTheClientAServerOrATimedOutQueue)
{
    const auto unknown = leaseServer(address(), {.key = "pi4"}, 60s, m_patient);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, DiagnosticCode::UnknownName) << unknown.error().text();
    const int server = greeted();
    EXPECT_EQ(ask(server, R"([5,{"key":"server:pi4","addr":["evil.example",1234]}])"), "0");
    const auto none = leaseServer(address(), {.key = "pi4"}, 100ms, m_patient);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, BoardCode::QueueTimedOut) << none.error().text();
    std::jthread later([&] {
        std::this_thread::sleep_for(50ms);
        EXPECT_EQ(ask(server, R"([3,"pi4",[1234,"pi4:0.5"],"evil.example"])"), "0");
    });
    auto lent = leaseServer(address(), {.key = "pi4"}, 60s, m_patient);
    ASSERT_TRUE(lent) << lent.error().text();
    EXPECT_EQ((*lent)->server().host, "127.0.0.1"); // not where the offer would divert it to
    EXPECT_EQ((*lent)->server().port, 1234);
    EXPECT_EQ((*lent)->server().key, "pi4:0.5");
    EXPECT_GT((*lent)->number(), 0u);
    later.join();
    EXPECT_EQ(ask(server, R"([100,"pi4:0.5"])"), "0");
    lent->reset();
    std::string over;
    for (int i = 0; i < 6000 && over != "1"; ++i) over = ask(server, R"([100,"pi4:0.5"])");
    EXPECT_EQ(over, "1"); // its client is gone
    const auto summary = trackerSummary(address(), 60s, m_patient);
    ASSERT_TRUE(summary);
    EXPECT_EQ(Json::parse(*summary)["queue_info"], Json::object()); // the patience that ended left
    close(server);
    JobContext stopped;
    stopped.requestStop();
    EXPECT_EQ(leaseServer(address(), {.key = "x"}, 60s, stopped).error().code,
              DiagnosticCode::Cancelled);
}

} // namespace
} // namespace tenon::remote
