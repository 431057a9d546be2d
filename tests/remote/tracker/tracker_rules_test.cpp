// SPDX-License-Identifier: Apache-2.0
// The tracker's rules under random histories in virtual time: boards and clients that come, go,
// fall silent or are late, and trackers that restart. At each moment (a) a board serves one client
// at most, (b) no request is lost, (c) who came first goes first within a priority, (d) leases
// count up.
#include "remote/tracker/tracker_state.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>

namespace tenon::remote {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr size_t kBoards = 5;
constexpr size_t kClients = 8;

/// What a server of Tenon does: it serves who knows the key of its latest offer, one at a time.
struct BoardModel
{
    std::string host;
    std::string key;
    uint64_t connection = 0; ///< 0: none
    uint64_t old = 0;        ///< a connection before that only the tracker believes in
    bool isSilent = false;   ///< lost power, or the way to it
    bool isOver = false;     ///< the tracker knows that the client of the lease is gone
    bool isOffered = false;  ///< as far as the tracker must know
    std::string matchKey;
    int served = -1; ///< client of the session
    TrackerState::Time heard{0};
};

struct ClientModel
{
    uint64_t connection = 0;
    bool isSilent = false;
    bool isWatched = true;
    int priority = -1; ///< of the request that waits; -1: none
    uint64_t order = 0;
    std::string key;
    int board = -1; ///< given, but perhaps not used yet
    std::string matchKey;
    TrackerState::Time heard{0};
};

class History
{
public:
    explicit History(unsigned seed)
        : m_random(seed)
    {
        for (size_t i = 0; i < kBoards; ++i) {
            m_boards[i].host = "10.0.0." + std::to_string(i);
            m_boards[i].key = i < 3 ? "a" : "b";
        }
        restart();
    }

    void step()
    {
        m_now += TrackerState::Time(below(1500));
        act();
        living();
        silence();
        check();
    }
    uint64_t operations() const { return m_operations; }

private:
    int below(int end) { return static_cast<int>(m_random() % static_cast<unsigned>(end)); }
    BoardModel& anyBoard() { return m_boards[static_cast<size_t>(below(kBoards))]; }
    ClientModel& anyClient() { return m_clients[static_cast<size_t>(below(kClients))]; }

    std::string tell(uint64_t connection, const Json& message)
    {
        bool isGood = true;
        ++m_operations;
        std::string own;
        for (const auto& reply : m_state->handle(connection, message.dump(), m_now, isGood)) {
            const Json answer = Json::parse(reply.message);
            const bool isGrant = answer.is_array() && answer.size() >= 2 && answer[1].is_array();
            if (isGrant)
                granted(reply.to, answer);
            else
                own = reply.message;
        }
        EXPECT_TRUE(isGood);
        return own;
    }

    /// (a), (c), (d) for one grant.
    void granted(uint64_t to, const Json& answer)
    {
        const auto client =
            std::find_if(m_clients.begin(), m_clients.end(),
                         [&](const ClientModel& each) { return each.connection == to; });
        ASSERT_NE(client, m_clients.end()) << "a server for nobody";
        ASSERT_GE(client->priority, 0) << "not asked for";
        const auto board =
            std::find_if(m_boards.begin(), m_boards.end(),
                         [&](const BoardModel& each) { return answer[1][0] == each.host; });
        ASSERT_NE(board, m_boards.end());
        ASSERT_TRUE(board->isOffered) << "not offered";
        EXPECT_LT(board->served, 0) << "busy";
        EXPECT_EQ(answer[1][2], board->matchKey) << "an older offer";
        EXPECT_EQ(board->key, client->key);
        for (const ClientModel& other : m_clients) {
            if (other.priority < 0 || other.key != client->key) continue;
            EXPECT_TRUE(other.priority < client->priority ||
                        (other.priority == client->priority && other.order >= client->order))
                << "out of turn";
        }
        if (client->isWatched) {
            EXPECT_GT(answer.at(2), m_lease);
            m_lease = answer.at(2);
        } else {
            EXPECT_EQ(answer.size(), 2u) << "TVM's clients expect no more";
            ++m_lease;
        }
        board->isOffered = false;
        board->isOver = false;
        client->priority = -1;
        client->board = static_cast<int>(board - m_boards.begin());
        client->matchKey = board->matchKey;
    }

    void offer(BoardModel& board)
    {
        const std::string before =
            std::exchange(board.matchKey, board.key + ":0." + std::to_string(++m_keys));
        board.isOffered = true;
        board.isOver = false;
        board.heard = m_now;
        Json message{3, board.key, {9000, board.matchKey}, nullptr};
        // Who comes by a new connection says what it offered before; stock servers wait until the
        // tracker has noticed the end of the old one, which is no part of this.
        const bool isNew = board.old != 0;
        if (isNew || below(2) == 0) message.push_back("leases");
        if (isNew) message.push_back(before);
        tell(board.connection, message);
    }
    void connectBoard(BoardModel& board)
    {
        board.connection = m_next++;
        board.heard = m_now;
        m_state->open(board.connection, board.host, m_now);
        tell(board.connection, {5, {{"key", "server:" + board.key}, {"addr", {nullptr, 9000}}}});
        if (board.served < 0) offer(board);
    }
    void disconnect(BoardModel& board)
    {
        for (const uint64_t connection : {board.connection, board.old})
            if (connection != 0 && m_state) m_state->close(connection);
        board.connection = board.old = 0;
        board.isOffered = false;
    }
    /// The board's side is gone, the tracker's is not.
    void halfClose(BoardModel& board)
    {
        if (board.old != 0) { // it ends at last, and takes nothing of a newer one
            m_state->close(std::exchange(board.old, 0));
            board.isOffered = board.isOffered && board.connection != 0;
        } else {
            board.old = std::exchange(board.connection, 0);
        }
    }
    void close(ClientModel& client)
    {
        if (client.connection == 0 || !m_state) return;
        m_state->close(client.connection);
        client.connection = 0;
        client.priority = -1;
        if (client.board < 0 || !client.isWatched) return;
        BoardModel& board = m_boards[static_cast<size_t>(client.board)];
        board.isOver = board.isOver || board.matchKey == client.matchKey;
    }
    void disconnect(ClientModel& client)
    {
        close(client);
        const int board = client.board;
        client = {};
        if (board < 0) return;
        // Its server notices the end of the session, if it still is this client's.
        BoardModel& used = m_boards[static_cast<size_t>(board)];
        if (used.served == &client - m_clients.data()) endSession(used);
    }
    void endSession(BoardModel& board)
    {
        board.served = -1;
        if (board.connection != 0 && !board.isSilent) offer(board);
    }
    void restart()
    {
        for (BoardModel& board : m_boards) {
            disconnect(board);
            board.isOver = false;
        }
        for (ClientModel& client : m_clients) {
            client.connection = 0; // sessions go on
            client.priority = -1;
        }
        m_state.emplace(TrackerState::Options{.firstLease = m_lease + 1000});
    }

    void request()
    {
        ClientModel& client = anyClient();
        if (client.connection != 0 || client.board >= 0) return;
        client = {.connection = m_next++};
        client.heard = m_now;
        client.isWatched = below(3) > 0;
        client.priority = below(3);
        client.order = m_next;
        client.key = below(2) == 0 ? "a" : "b";
        m_state->open(client.connection, "10.0.1.1", m_now);
        Json message{4, client.key, "user", client.priority};
        if (client.isWatched) message.push_back("leases");
        tell(client.connection, message);
    }
    /// A client that was given a server goes there, soon or too late.
    void use()
    {
        ClientModel& client = anyClient();
        if (client.board < 0) return;
        BoardModel& board = m_boards[static_cast<size_t>(client.board)];
        const int who = static_cast<int>(&client - m_clients.data());
        if (board.served == who) return;
        if (board.served >= 0 || board.matchKey != client.matchKey || board.isSilent) {
            disconnect(client); // refused
            return;
        }
        board.served = who;
    }
    /// The server does not wait for ever for a client that got it.
    void tireOfWaiting()
    {
        BoardModel& board = anyBoard();
        if (board.connection != 0 && !board.isSilent && board.served < 0 && !board.isOffered)
            offer(board);
    }
    void powerFails()
    {
        BoardModel& board = anyBoard();
        board.isSilent = true;
        board.served = -1;
    }
    void act()
    {
        switch (below(16)) {
        case 0:
        case 1: {
            BoardModel& board = anyBoard();
            if (board.connection == 0 && !board.isSilent) connectBoard(board);
            return;
        }
        case 2: return below(2) == 0 ? disconnect(anyBoard()) : halfClose(anyBoard());
        case 3: return below(4) == 0 ? powerFails() : void(anyBoard().isSilent = false);
        case 4: return disconnect(anyClient());
        case 5:
            if (below(3) == 0) anyClient().isSilent = true;
            return;
        case 6: return tireOfWaiting();
        case 7: return below(100) == 0 ? restart() : void();
        case 8:
        case 9:
        case 10: return use();
        default: return request();
        }
    }

    /// Whoever lives says so often enough; servers do what they learn.
    void living()
    {
        for (ClientModel& client : m_clients)
            if (client.connection != 0 && !client.isSilent) {
                EXPECT_EQ(tell(client.connection, {1}), "0");
                client.heard = m_now;
            }
        for (BoardModel& board : m_boards) {
            if (board.connection == 0 || board.isSilent) continue;
            board.heard = m_now;
            const Json pending = Json::parse(tell(board.connection, {7}));
            EXPECT_EQ(pending, board.isOffered ? Json{board.matchKey} : Json::array());
            if (board.isOffered) continue;
            const std::string answer = tell(board.connection, {100, board.matchKey});
            EXPECT_EQ(answer, board.isOver ? "1" : "0");
            if (board.isOver) endSession(board);
        }
    }
    void silence()
    {
        for (const uint64_t connection : m_state->silentOnes(m_now)) {
            for (BoardModel& board : m_boards) {
                if (board.old == connection) halfClose(board);
                if (board.connection != connection) continue;
                EXPECT_TRUE(board.isSilent) << "hung up on a living board";
                disconnect(board);
            }
            for (ClientModel& client : m_clients) {
                if (client.connection != connection) continue;
                EXPECT_TRUE(client.isSilent) << "hung up on a living client";
                close(client);
            }
        }
        for (const ClientModel& client : m_clients)
            EXPECT_FALSE(client.connection != 0 && client.isWatched &&
                         m_now - client.heard > TrackerState::Options().clientSilence);
    }
    /// (b): what waits and what is free is exactly what must be, and never both.
    void check()
    {
        const uint64_t asking = m_next++;
        m_state->open(asking, "10.0.1.2", m_now);
        const Json summary = Json::parse(tell(asking, {6}));
        m_state->close(asking);
        for (const std::string key : {"a", "b"}) {
            size_t waiting = 0;
            size_t free = 0;
            for (const ClientModel& client : m_clients)
                waiting += client.priority >= 0 && client.key == key;
            for (const BoardModel& board : m_boards) free += board.isOffered && board.key == key;
            EXPECT_TRUE(waiting == 0 || free == 0) << "somebody waits beside a free board";
            const Json none{{"free", 0}, {"pending", 0}};
            EXPECT_EQ(summary[1]["queue_info"].value(key, none),
                      (Json{{"free", free}, {"pending", waiting}}));
        }
    }

    std::mt19937 m_random;
    std::optional<TrackerState> m_state;
    std::array<BoardModel, kBoards> m_boards;
    std::array<ClientModel, kClients> m_clients;
    TrackerState::Time m_now{0};
    uint64_t m_next = 1;
    uint64_t m_keys = 0;
    uint64_t m_lease = 0;
    uint64_t m_operations = 0;
};

/// TENON_TRACKER_SEEDS asks for more than the usual few.
TEST(TrackerRules, holdUnderRandomHistories)
{
    const char* asked = std::getenv("TENON_TRACKER_SEEDS");
    const unsigned seeds = asked ? static_cast<unsigned>(std::atoi(asked)) : 20;
    uint64_t operations = 0;
    for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        History history(seed);
        for (int step = 0; step < 800 && !testing::Test::HasFailure(); ++step) history.step();
        operations += history.operations();
    }
    RecordProperty("operations", std::to_string(operations));
}

} // namespace
} // namespace tenon::remote
