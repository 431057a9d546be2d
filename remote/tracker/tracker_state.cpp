// SPDX-License-Identifier: Apache-2.0
// Who offers which server, who waits for one and who has one.
#include "remote/tracker/tracker_state.h"

#include "remote/tracker/tracker_wire.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenon::remote {

namespace {

constexpr const char* kDone = "0";
constexpr const char* kFailed = "-1";
/// More offers of one connection, or requests of one key, than there are ever reasons for.
constexpr size_t kMostOffers = 1024;
constexpr size_t kMostRequests = 65536;
/// Of leases whose client and server are both gone.
constexpr std::chrono::hours kLongestMemory{1};

} // namespace

struct TrackerState::Turn
{
    Connection from;
    Peer& peer;
    Time now;
    Json message;
    std::vector<Reply> replies;
    bool isGood = true;

    void answer(const std::string& text) { replies.push_back({from, text}); }
    void refuse()
    {
        isGood = false;
        answer(kFailed);
    }
    /// Element `index` says that the sender is Tenon's and knows of leases.
    bool knowsLeases(size_t index) const
    {
        return message.size() > index && message[index] == kKnowsLeases;
    }
};

TrackerState::TrackerState(Options options)
    : m_options(std::move(options))
    , m_nextLease(m_options.firstLease)
{
}

void TrackerState::open(Connection connection, std::string host, Time now)
{
    m_peers[connection] = {.host = std::move(host), .heard = now};
    std::erase_if(m_leases, [&](const auto& entry) {
        const Lease& lease = entry.second;
        return lease.isOver && !m_peers.contains(lease.offer.from) &&
               now - lease.since > kLongestMemory;
    });
}

void TrackerState::close(Connection connection)
{
    m_peers.erase(connection);
    for (auto& [key, queue] : m_queues) {
        std::erase_if(queue.offers, [&](const Offer& each) { return each.from == connection; });
        std::erase_if(queue.requests, [&](const Request& each) { return each.from == connection; });
    }
    std::erase_if(m_queues, [](const auto& entry) {
        return entry.second.offers.empty() && entry.second.requests.empty();
    });
    for (auto& [key, lease] : m_leases)
        if (lease.request.isWatched && lease.request.from == connection) lease.isOver = true;
    // A server may come back in the middle of a session and ask, but then its client is watched.
    std::erase_if(m_leases, [&](const auto& entry) {
        return !entry.second.request.isWatched && !m_peers.contains(entry.second.offer.from);
    });
}

bool TrackerState::mayOffer(const Peer& peer) const
{
    return m_options.offerers.empty() ||
           std::any_of(m_options.offerers.begin(), m_options.offerers.end(),
                       [&](const AddressRange& range) { return range.contains(peer.host); });
}

void TrackerState::forgetBoard(const std::string& host, int port)
{
    const auto isIt = [&](const Offer& offer) { return offer.host == host && offer.port == port; };
    for (auto& [key, queue] : m_queues) std::erase_if(queue.offers, isIt);
    std::erase_if(m_leases, [&](const auto& entry) { return isIt(entry.second.offer); });
}

void TrackerState::match(const std::string& key, Turn& turn)
{
    Queue& queue = m_queues[key];
    while (!queue.offers.empty() && !queue.requests.empty()) {
        const Offer offer = queue.offers.front();
        const Request request = queue.requests.front();
        queue.offers.pop_front();
        queue.requests.pop_front();
        Json answer{0, {offer.host, offer.port, offer.matchKey}};
        if (request.isWatched) answer.push_back(m_nextLease);
        turn.replies.push_back({request.from, answer.dump()});
        m_leases.insert_or_assign(offer.matchKey,
                                  Lease{m_nextLease++, key, offer, request, turn.now});
    }
}

void TrackerState::put(Turn& turn)
{
    const Json& message = turn.message;
    const bool isElsewhere = m_options.allowsCustomAddress && message.at(3).is_string();
    const Offer offer{turn.from, isElsewhere ? message[3].get<std::string>() : turn.peer.host,
                      message.at(2).at(0), message.at(2).at(1)};
    const std::string key = message.at(1);
    if (!mayOffer(turn.peer)) return turn.refuse();
    forgetBoard(offer.host, offer.port);
    size_t mine = 0;
    for (const auto& [name, queue] : m_queues)
        mine += static_cast<size_t>(
            std::count_if(queue.offers.begin(), queue.offers.end(),
                          [&](const Offer& each) { return each.from == turn.from; }));
    if (mine >= kMostOffers) return turn.refuse();
    m_queues[key].offers.push_back(offer);
    turn.answer(turn.knowsLeases(4) ? "1" : kDone);
    match(key, turn);
}

void TrackerState::request(Turn& turn)
{
    const std::string key = turn.message.at(1);
    Queue& queue = m_queues[key];
    const Request request{turn.from, turn.message.at(3).get<int64_t>(),
                          turn.message.at(2).get<std::string>(), turn.knowsLeases(4)};
    if (queue.requests.size() >= kMostRequests) return turn.refuse();
    turn.peer.isWatched = turn.peer.isWatched || request.isWatched;
    // Behind everybody of the same or a higher priority; from the back, where most belong.
    const auto ahead =
        std::find_if(queue.requests.rbegin(), queue.requests.rend(),
                     [&](const Request& each) { return each.priority >= request.priority; });
    queue.requests.insert(ahead.base(), request);
    match(key, turn);
}

void TrackerState::updateInfo(Turn& turn)
{
    const Json& info = turn.message.at(1);
    const Json& address = info.at("addr");
    const bool isElsewhere = m_options.allowsCustomAddress && address.at(0).is_string();
    const std::string host = isElsewhere ? address[0].get<std::string>() : turn.peer.host;
    if (!mayOffer(turn.peer)) return turn.refuse();
    turn.peer.info =
        Json{{"key", info.at("key").get<std::string>()}, {"addr", {host, address.at(1).get<int>()}}}
            .dump();
    turn.answer(kDone);
}

void TrackerState::askLease(Turn& turn)
{
    const auto found = m_leases.find(turn.message.at(1).get<std::string>());
    // A lease of an earlier life of this tracker is none of its business.
    if (found == m_leases.end()) return turn.answer(kDone);
    found->second.offer.from = turn.from; // perhaps it had to connect again
    turn.answer(found->second.isOver ? "1" : kDone);
}

nlohmann::json TrackerState::summary(Time now) const
{
    Json queues = Json::object();
    for (const auto& [key, queue] : m_queues)
        queues[key] = {{"free", queue.offers.size()}, {"pending", queue.requests.size()}};
    Json servers = Json::array();
    for (const auto& [connection, peer] : m_peers)
        if (!peer.info.empty()) servers.push_back(Json::parse(peer.info));
    Json leases = Json::array();
    for (const auto& [matchKey, lease] : m_leases)
        leases.push_back({{"lease", lease.number},
                          {"key", lease.key},
                          {"addr", {lease.offer.host, lease.offer.port}},
                          {"user", lease.request.user},
                          {"seconds", (now - lease.since).count() / 1000},
                          {"over", lease.isOver}});
    return {0, {{"queue_info", queues}, {"server_info", servers}, {"leases", leases}}};
}

std::string TrackerState::pendingKeys(Connection connection) const
{
    Json keys = Json::array();
    for (const auto& [key, queue] : m_queues)
        for (const Offer& offer : queue.offers)
            if (offer.from == connection) keys.push_back(offer.matchKey);
    return keys.dump();
}

void TrackerState::dispatch(Turn& turn)
{
    switch (static_cast<TrackerCode>(turn.message.at(0).get<int>())) {
    case TrackerCode::Ping: return turn.answer(kDone);
    case TrackerCode::Put: return put(turn);
    case TrackerCode::Request: return request(turn);
    case TrackerCode::UpdateInfo: return updateInfo(turn);
    case TrackerCode::Summary: return turn.answer(summary(turn.now).dump());
    case TrackerCode::PendingKeys: return turn.answer(pendingKeys(turn.from));
    case TrackerCode::AskLease: return askLease(turn);
    case TrackerCode::Stop: {
        const bool isAllowed =
            !m_options.stopKey.empty() && turn.message.at(1) == m_options.stopKey;
        m_hasEnded = m_hasEnded || isAllowed;
        return turn.answer(isAllowed ? kDone : kFailed);
    }
    }
    turn.refuse();
}

std::vector<TrackerState::Reply>
TrackerState::handle(Connection connection, const std::string& message, Time now, bool& isGood)
{
    Turn turn{.from = connection, .peer = m_peers[connection], .now = now};
    turn.peer.heard = now;
    if (!isShallow(message)) turn.refuse();
    try {
        if (turn.isGood) turn.message = Json::parse(message);
        if (turn.isGood) dispatch(turn);
    } catch (const Json::exception&) { // whatever is not as it must be
        turn.refuse();
    }
    isGood = turn.isGood;
    return turn.replies;
}

std::vector<TrackerState::Connection> TrackerState::silentOnes(Time now) const
{
    std::vector<Connection> out;
    for (const auto& [connection, peer] : m_peers)
        if (peer.isWatched && now - peer.heard > m_options.clientSilence) out.push_back(connection);
    for (const auto& [key, queue] : m_queues)
        for (const Offer& offer : queue.offers) {
            const auto peer = m_peers.find(offer.from);
            const bool isListed = std::find(out.begin(), out.end(), offer.from) != out.end();
            if (!isListed && now - peer->second.heard > m_options.serverSilence)
                out.push_back(offer.from);
        }
    return out;
}

} // namespace tenon::remote
