// SPDX-License-Identifier: Apache-2.0
// TrackerState: who offers which server and who waits for one; messages in, messages out, no input
// or output of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace tenon::remote {

/// Rules beyond the protocol's: a connection that goes takes its offers and requests with it at
/// once, each offer is handed out once, and an offer leads to the host it came from.
class TrackerState
{
public:
    using Connection = uint64_t;
    struct Reply
    {
        Connection to;
        std::string message; ///< JSON
    };
    struct Options
    {
        std::string stopKey;              ///< whoever knows it may end the tracker; empty: nobody
        bool allowsCustomAddress = false; ///< offers may lead to other hosts
    };

    explicit TrackerState(Options options)
        : m_options(std::move(options))
    {
    }
    void open(Connection connection, std::string host);
    void close(Connection connection);
    /// Replies to this and perhaps to other connections. `isGood` turns false when the sender must
    /// be hung up on.
    std::vector<Reply> handle(Connection connection, const std::string& message, bool& isGood);
    bool hasEnded() const { return m_hasEnded; }

private:
    struct Offer
    {
        Connection from;
        std::string host;
        int port;
        std::string matchKey;
    };
    struct Request
    {
        Connection from;
        int64_t priority;
    };
    struct Queue
    {
        std::deque<Offer> offers;
        std::list<Request> requests; ///< the next to serve first
    };
    struct Peer
    {
        std::string host;
        std::string info; ///< JSON of server_info, or empty
    };
    void match(Queue& queue, std::vector<Reply>& replies);
    std::string summary() const;
    std::string pendingKeys() const;

    Options m_options;
    std::map<Connection, Peer> m_peers;
    std::map<std::string, Queue> m_queues;
    bool m_hasEnded = false;
};

} // namespace tenon::remote
