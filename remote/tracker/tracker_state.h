// SPDX-License-Identifier: Apache-2.0
// TrackerState: who offers which server, who waits for one and who has one; messages in, messages
// out, no input, output or clock of its own.
#pragma once

#include "remote/tracker/address_range.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace tenon::remote {

/// Rules beyond the protocol's. A board is an address; at most one client has it: an offer is
/// handed out once, a newer one of the same board replaces it, and each lease has a larger number
/// than all before. A connection that goes takes its offers and requests with it at once. An offer
/// leads to the host it came from, and only the connection that offered an address first may offer
/// it again, as long as it is open. Tenon's clients say that they live; when one is silent, its
/// board is told.
class TrackerState
{
public:
    using Connection = uint64_t;
    /// Since whenever, as long as it never runs backwards.
    using Time = std::chrono::milliseconds;
    struct Reply
    {
        Connection to;
        std::string message; ///< JSON
    };
    struct Options
    {
        std::string stopKey;                ///< whoever knows it may end the tracker; empty: nobody
        bool allowsCustomAddress = false;   ///< offers may lead to other hosts
        std::vector<AddressRange> offerers; ///< hosts that may offer servers; empty: all
        uint64_t firstLease = 1;            ///< above those of an earlier life
        Time clientSilence{6000};           ///< three heartbeats of Tenon's clients
        Time serverSilence{10000};          ///< five looks of an idle server at its offer
    };

    explicit TrackerState(Options options);
    void open(Connection connection, std::string host, Time now);
    void close(Connection connection);
    /// Replies to this and perhaps to other connections. `isGood` turns false when the sender must
    /// be hung up on.
    std::vector<Reply> handle(Connection connection, const std::string& message, Time now,
                              bool& isGood);
    /// What a connection is good for: nothing yet; it said what it is or waits; it offers or has
    /// something.
    enum class Use
    {
        None,
        Waits,
        Serves
    };
    /// Those that are of any use.
    std::map<Connection, Use> uses() const;
    /// Connections that should have said something and did not: hang up on them.
    std::vector<Connection> silentOnes(Time now) const;
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
        std::string user;
        bool isWatched; ///< of a client that says that it lives
    };
    struct Queue
    {
        std::deque<Offer> offers;
        std::list<Request> requests; ///< the next to serve first
    };
    struct Lease
    {
        uint64_t number;
        std::string key;
        Offer offer;
        Request request;
        Time since;
        bool isOver = false; ///< its client is gone, its server does not know yet
    };
    struct Peer
    {
        std::string host;
        std::string info; ///< JSON of server_info, or empty
        Time heard{0};
        bool isWatched = false;
    };
    using Json = nlohmann::json;
    struct Turn; ///< one message being handled

    void put(Turn& turn);
    void request(Turn& turn);
    void updateInfo(Turn& turn);
    /// What a server wants to know of the lease whose match key it names.
    void askLease(Turn& turn);
    void dispatch(Turn& turn);
    bool mayOffer(const Peer& peer) const;
    /// The address belongs to this connection, or to none that still lives, or the connection knows
    /// what was offered before; then it is this one's.
    bool owns(Connection connection, const Offer& offer, const std::string& before);
    /// A connection has so many offers, or addresses, as there is never a reason for.
    bool offersTooMuch(Connection connection) const;
    bool isKnownMatchKey(const std::string& matchKey) const;
    void forgetOldLeases();
    void forgetBoard(const std::string& host, int port);
    void match(const std::string& key, Turn& turn);
    /// As a text; a large one at most five times a second, and never longer than clients read.
    const std::string& summary(Time now);
    Json makeSummary(Time now) const;
    std::string pendingKeys(Connection connection) const;

    Options m_options;
    std::map<Connection, Peer> m_peers;
    std::map<std::string, Queue> m_queues;
    std::map<std::string, Lease> m_leases;                      ///< by match key
    std::map<std::pair<std::string, int>, Connection> m_owners; ///< of addresses
    std::string m_summary;
    Time m_summaryTime{0};
    uint64_t m_nextLease;
    bool m_hasEnded = false;
};

} // namespace tenon::remote
