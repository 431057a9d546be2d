// SPDX-License-Identifier: Apache-2.0
// Who offers which server and who waits for one.
#include "remote/tracker/tracker_state.h"

#include "remote/tracker/tracker_wire.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenon::remote {

using Json = nlohmann::json;

namespace {

constexpr const char* kDone = "0";
constexpr const char* kFailed = "-1";
/// More offers and requests of one connection than any server or client makes.
constexpr size_t kMostOfOne = 1024;

} // namespace

void TrackerState::open(Connection connection, std::string host)
{
    m_peers[connection] = {.host = std::move(host)};
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
}

void TrackerState::match(Queue& queue, std::vector<Reply>& replies)
{
    while (!queue.offers.empty() && !queue.requests.empty()) {
        const Offer offer = queue.offers.front();
        queue.offers.pop_front();
        const Json server{offer.host, offer.port, offer.matchKey};
        replies.push_back({queue.requests.front().from, Json{0, server}.dump()});
        queue.requests.pop_front();
    }
}

std::string TrackerState::summary() const
{
    Json queues = Json::object();
    for (const auto& [key, queue] : m_queues)
        queues[key] = {{"free", queue.offers.size()}, {"pending", queue.requests.size()}};
    Json servers = Json::array();
    for (const auto& [connection, peer] : m_peers)
        if (!peer.info.empty()) servers.push_back(Json::parse(peer.info));
    return Json{0, {{"queue_info", queues}, {"server_info", servers}}}.dump();
}

std::string TrackerState::pendingKeys() const
{
    Json keys = Json::array();
    for (const auto& [key, queue] : m_queues)
        for (const Offer& offer : queue.offers) keys.push_back(offer.matchKey);
    return keys.dump();
}

std::vector<TrackerState::Reply> TrackerState::handle(Connection connection,
                                                      const std::string& message, bool& isGood)
{
    std::vector<Reply> replies;
    Peer& peer = m_peers[connection];
    const auto answer = [&](const std::string& text) { replies.push_back({connection, text}); };
    try {
        const Json json = Json::parse(message);
        switch (static_cast<TrackerCode>(json.at(0).get<int>())) {
        case TrackerCode::Ping: answer(kDone); break;
        case TrackerCode::Stop: {
            const bool isAllowed = !m_options.stopKey.empty() && json.at(1) == m_options.stopKey;
            m_hasEnded = m_hasEnded || isAllowed;
            answer(isAllowed ? kDone : kFailed);
            break;
        }
        case TrackerCode::Put: {
            const bool isElsewhere = m_options.allowsCustomAddress && json.at(3).is_string();
            const Offer offer{connection, isElsewhere ? json.at(3).get<std::string>() : peer.host,
                              json.at(2).at(0), json.at(2).at(1)};
            Queue& queue = m_queues[json.at(1).get<std::string>()];
            const auto mine = std::count_if(queue.offers.begin(), queue.offers.end(),
                                            [&](const Offer& o) { return o.from == connection; });
            isGood = static_cast<size_t>(mine) < kMostOfOne;
            if (isGood) queue.offers.push_back(offer);
            answer(isGood ? kDone : kFailed);
            match(queue, replies);
            break;
        }
        case TrackerCode::Request: {
            const Request request{connection, json.at(3).get<int64_t>()};
            Queue& queue = m_queues[json.at(1).get<std::string>()];
            // Behind everybody of the same or a higher priority.
            const auto behind =
                std::find_if(queue.requests.begin(), queue.requests.end(),
                             [&](const Request& r) { return r.priority < request.priority; });
            isGood = queue.requests.size() < kMostOfOne * 64;
            if (isGood) queue.requests.insert(behind, request);
            match(queue, replies);
            break;
        }
        case TrackerCode::UpdateInfo: {
            const Json& info = json.at(1);
            Json address = info.at("addr");
            if (!m_options.allowsCustomAddress || address.at(0).is_null())
                address.at(0) = peer.host;
            peer.info = Json{{"key", info.at("key").get<std::string>()}, {"addr", address}}.dump();
            answer(kDone);
            break;
        }
        case TrackerCode::Summary: answer(summary()); break;
        case TrackerCode::PendingKeys: answer(pendingKeys()); break;
        default: throw std::out_of_range("unknown request");
        }
    } catch (const std::exception&) { // of the JSON library, for whatever is not as it must be
        isGood = false;
        answer(kFailed);
    }
    return replies;
}

} // namespace tenon::remote
