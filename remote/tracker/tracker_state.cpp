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
/// More offers or requests of one connection than there are ever reasons for.
constexpr int64_t kMostOffers = 64;
constexpr size_t kMostRequests = 64;
constexpr size_t kMostLeases = 4096;
/// A third of what a client reads, for each of three lists; what is beyond is left out.
constexpr size_t kMostListBytes = 300'000;
/// A small summary is made anew each time; who asks for a large one again and again gets it again.
constexpr size_t kSmallSummary = 8192;
constexpr TrackerState::Time kSummaryAge{200};
/// Of leases whose client and server are both gone.
constexpr std::chrono::hours kLongestMemory{1};

bool isPort(const nlohmann::json& value)
{
    return value.is_number_integer() && isGoodPort(value.get<int64_t>());
}

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
    /// Element `index`, if it is a text.
    std::string textAt(size_t index) const
    {
        return message.size() > index && message[index].is_string()
                   ? message[index].get<std::string>()
                   : std::string();
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
    forgetOldLeases();
    std::erase_if(m_leases, [&](const auto& entry) {
        const Lease& lease = entry.second;
        return lease.isOver && !m_peers.contains(lease.offer.from) &&
               now - lease.since > kLongestMemory;
    });
}

void TrackerState::close(Connection connection)
{
    m_peers.erase(connection);
    std::erase_if(m_owners, [&](const auto& entry) { return entry.second == connection; });
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

bool TrackerState::owns(Connection connection, const Offer& offer, const std::string& before)
{
    Connection& owner = m_owners.try_emplace({offer.host, offer.port}, connection).first->second;
    if (owner == connection) return true;
    const auto isIt = [&](const Offer& each) {
        return each.host == offer.host && each.port == offer.port && each.matchKey == before;
    };
    const auto has = [&](const auto& entry) {
        const auto& offers = entry.second.offers;
        return std::any_of(offers.begin(), offers.end(), isIt);
    };
    const auto lease = m_leases.find(before);
    const bool isProven = std::any_of(m_queues.begin(), m_queues.end(), has) ||
                          (lease != m_leases.end() && isIt(lease->second.offer));
    if (isProven) owner = connection;
    return isProven;
}

bool TrackerState::offersTooMuch(Connection connection) const
{
    const auto isMine = [&](const Offer& each) { return each.from == connection; };
    int64_t mine = 0;
    for (const auto& [name, queue] : m_queues)
        mine += std::count_if(queue.offers.begin(), queue.offers.end(), isMine);
    const auto owned = std::count_if(m_owners.begin(), m_owners.end(),
                                     [&](const auto& entry) { return entry.second == connection; });
    return std::max(mine, owned) >= kMostOffers;
}

bool TrackerState::isKnownMatchKey(const std::string& matchKey) const
{
    const auto has = [&](const auto& entry) {
        const auto& offers = entry.second.offers;
        return std::any_of(offers.begin(), offers.end(),
                           [&](const Offer& each) { return each.matchKey == matchKey; });
    };
    return m_leases.contains(matchKey) || std::any_of(m_queues.begin(), m_queues.end(), has);
}

/// A server that comes and goes under ever new addresses must not fill the memory.
void TrackerState::forgetOldLeases()
{
    while (m_leases.size() > kMostLeases)
        m_leases.erase(std::min_element(m_leases.begin(), m_leases.end(),
                                        [](const auto& one, const auto& other) {
                                            return one.second.number < other.second.number;
                                        }));
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
    if (!mayOffer(turn.peer) || !isGoodKey(key) || !isGoodKey(offer.host) ||
        !isPort(message[2][0]) || offer.matchKey.size() > kMostMatchKeyBytes ||
        offersTooMuch(turn.from) || !owns(turn.from, offer, turn.textAt(5)))
        return turn.refuse();
    forgetBoard(offer.host, offer.port);
    if (isKnownMatchKey(offer.matchKey)) return turn.refuse();
    m_queues[key].offers.push_back(offer);
    turn.answer(turn.knowsLeases(4) ? "1" : kDone);
    match(key, turn);
}

void TrackerState::request(Turn& turn)
{
    const std::string key = turn.message.at(1);
    const Request request{turn.from, turn.message.at(3).get<int64_t>(),
                          turn.message.at(2).get<std::string>(), turn.knowsLeases(4)};
    size_t mine = 0;
    for (const auto& [name, queue] : m_queues)
        mine += static_cast<size_t>(
            std::count_if(queue.requests.begin(), queue.requests.end(),
                          [&](const Request& each) { return each.from == turn.from; }));
    if (mine >= kMostRequests || !isGoodKey(key) || request.user.size() > kMostKeyBytes)
        return turn.refuse();
    Queue& queue = m_queues[key];
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
    const std::string key = info.at("key");
    const int port = address.at(1);
    if (!mayOffer(turn.peer) || !isGoodKey(key) || !isGoodKey(host) || !isPort(address[1]))
        return turn.refuse();
    turn.peer.info = Json{{"key", key}, {"addr", {host, port}}}.dump();
    turn.answer(kDone);
}

void TrackerState::askLease(Turn& turn)
{
    const auto found = m_leases.find(turn.message.at(1).get<std::string>());
    // A lease of an earlier life of this tracker is none of its business.
    if (found == m_leases.end()) return turn.answer(kDone);
    Offer& offer = found->second.offer;
    const bool isItsHost = m_options.allowsCustomAddress || offer.host == turn.peer.host;
    // Perhaps it had to connect again.
    if (isItsHost && owns(turn.from, offer, offer.matchKey)) offer.from = turn.from;
    turn.answer(found->second.isOver ? "1" : kDone);
}

namespace {

/// A list or object whose text stays within a size.
class Bounded
{
public:
    explicit Bounded(nlohmann::json start)
        : m_json(std::move(start))
    {
    }
    void add(const std::string& name, const nlohmann::json& value)
    {
        m_bytes += name.size() * 6 + value.dump().size() + 8; // every character may be escaped
        if (m_bytes > kMostListBytes) return;
        if (m_json.is_array())
            m_json.push_back(value);
        else
            m_json[name] = value;
    }
    nlohmann::json take() { return std::move(m_json); }

private:
    nlohmann::json m_json;
    size_t m_bytes = 0;
};

} // namespace

nlohmann::json TrackerState::makeSummary(Time now) const
{
    Bounded queues(Json::object());
    for (const auto& [key, queue] : m_queues)
        queues.add(key, {{"free", queue.offers.size()}, {"pending", queue.requests.size()}});
    Bounded servers(Json::array());
    for (const auto& [connection, peer] : m_peers)
        if (!peer.info.empty()) servers.add("", Json::parse(peer.info));
    Bounded leases(Json::array());
    for (const auto& [matchKey, lease] : m_leases)
        leases.add("", {{"lease", lease.number},
                        {"key", lease.key},
                        {"addr", {lease.offer.host, lease.offer.port}},
                        {"user", lease.request.user},
                        {"seconds", (now - lease.since).count() / 1000},
                        {"over", lease.isOver}});
    return {0,
            {{"queue_info", queues.take()},
             {"server_info", servers.take()},
             {"leases", leases.take()}}};
}

const std::string& TrackerState::summary(Time now)
{
    if (m_summary.size() > kSmallSummary && now - m_summaryTime < kSummaryAge) return m_summary;
    m_summary = makeSummary(now).dump();
    m_summaryTime = now;
    return m_summary;
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
    case TrackerCode::Summary: return turn.answer(summary(turn.now));
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

std::map<TrackerState::Connection, TrackerState::Use> TrackerState::uses() const
{
    std::map<Connection, Use> out;
    for (const auto& [connection, peer] : m_peers)
        if (!peer.info.empty()) out[connection] = Use::Waits;
    for (const auto& [key, queue] : m_queues) {
        for (const Request& each : queue.requests) out.emplace(each.from, Use::Waits);
        for (const Offer& each : queue.offers) out[each.from] = Use::Serves;
    }
    for (const auto& [matchKey, lease] : m_leases) {
        out[lease.offer.from] = Use::Serves;
        if (!lease.isOver) out[lease.request.from] = Use::Serves;
    }
    return out;
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
