// SPDX-License-Identifier: Apache-2.0
// The tracker: bytes of the protocol, its rules under random histories, and a client through it.
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

#include <random>
#include <set>
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
        auto server = TrackerServer::listen({.port = 0, .rules = {.stopKey = "stop"}});
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
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.0\r\n\r\n"), std::string("\x71\xF2\x02\x00\xff\xff\xff\x7f", 8),
          std::string("\x71\xF2\x02\x00\x05\x00\x00\x00[1,2,", 13),
          std::string("\x71\xF2\x02\x00\x04\x00\x00\x00[99]", 12),
          std::string("\x71\xF2\x02\x00\x03\x00\x00\x00[3]", 11)}) {
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
    const auto none = requestServer(address(), {.key = "pi4"}, 2s, m_patient);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, BoardCode::QueueTimedOut);
    const int server = greeted();
    std::jthread later([&] {
        std::this_thread::sleep_for(50ms);
        EXPECT_EQ(ask(server, R"([3,"pi4",[1234,"pi4:0.5"],"evil.example"])"), "0");
    });
    const auto lent = requestServer(address(), {.key = "pi4"}, 60s, m_patient);
    ASSERT_TRUE(lent) << lent.error().text();
    EXPECT_EQ(lent->host, "127.0.0.1"); // not where the offer would divert it to
    EXPECT_EQ(lent->port, 1234);
    EXPECT_EQ(lent->key, "pi4:0.5");
    later.join();
    const auto summary = trackerSummary(address(), 60s, m_patient);
    ASSERT_TRUE(summary);
    EXPECT_EQ(Json::parse(*summary)["queue_info"], Json::object()); // the patience that ended left
    close(server);
    JobContext stopped;
    stopped.requestStop();
    EXPECT_EQ(requestServer(address(), {.key = "x"}, 60s, stopped).error().code,
              DiagnosticCode::Cancelled);
}

/// Five boards, eight clients and a seeded history of offers, requests, hang-ups: no offer is
/// handed out twice, none to somebody who left, and within a priority who came first goes first.
TEST(TrackerRules, holdUnderRandomHistories)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        TrackerState state({});
        std::set<uint64_t> open;
        std::set<std::string> handedOut;
        std::map<std::string, uint64_t> offerOf;
        std::vector<std::pair<uint64_t, int>> waiting; // connection and priority, as they came
        uint64_t next = 1;
        int key = 0;
        const auto anyOf = [&](const std::set<uint64_t>& from) {
            return *std::next(from.begin(), static_cast<long>(random() % from.size()));
        };
        for (int step = 0; step < 400; ++step) {
            const auto dice = random() % 10;
            if (open.empty() || (dice == 0 && open.size() < 13)) {
                state.open(next, "host" + std::to_string(next));
                open.insert(next++);
                continue;
            }
            const uint64_t who = anyOf(open);
            bool isGood = true;
            std::vector<TrackerState::Reply> replies;
            if (dice == 1) {
                state.close(who);
                open.erase(who);
                std::erase_if(waiting, [&](const auto& w) { return w.first == who; });
                std::erase_if(offerOf, [&](const auto& o) { return o.second == who; });
                continue;
            }
            if (dice < 6) {
                const std::string match = "k:" + std::to_string(++key);
                offerOf[match] = who;
                replies = state.handle(who, Json{3, "k", {9000, match}, nullptr}.dump(), isGood);
            } else {
                const int priority = static_cast<int>(random() % 3);
                waiting.emplace_back(who, priority);
                replies = state.handle(who, Json{4, "k", "u", priority}.dump(), isGood);
            }
            EXPECT_TRUE(isGood);
            for (const TrackerState::Reply& reply : replies) {
                const Json answer = Json::parse(reply.message);
                if (!answer.is_array()) continue;
                const std::string match = answer[1][2];
                EXPECT_TRUE(handedOut.insert(match).second) << "twice";
                ASSERT_TRUE(offerOf.contains(match)) << "of somebody who left";
                EXPECT_EQ(answer[1][0], "host" + std::to_string(offerOf[match]));
                offerOf.erase(match);
                const auto due = std::max_element(
                    waiting.begin(), waiting.end(),
                    [](const auto& a, const auto& b) { return a.second < b.second; });
                ASSERT_NE(due, waiting.end());
                EXPECT_EQ(due->first, reply.to) << "out of turn";
                waiting.erase(due);
            }
            EXPECT_TRUE(waiting.empty() || offerOf.empty()) << "somebody waits beside a free board";
        }
    }
}

} // namespace
} // namespace tenon::remote
