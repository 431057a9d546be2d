// SPDX-License-Identifier: Apache-2.0
// The client of a tracker of TVM's protocol.
#include "remote/tracker/tracker_client.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/tracker/tracker_conversation.h"
#include "remote/tracker/tracker_wire.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

namespace {

constexpr milliseconds kHeartbeat{2000};
constexpr milliseconds kStep{20};
constexpr milliseconds kAnswer{10000}; ///< of a tracker, beside the waiting
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{5000};
constexpr const char* kServerPrefix = "server:";

Json ping() { return Json::array({static_cast<int>(TrackerCode::Ping)}); }

/// The keys of all servers that the tracker has a connection to.
std::set<std::string> knownKeys(const Json& summary)
{
    std::set<std::string> keys;
    const auto servers = summary.find("server_info");
    if (servers == summary.end() || !servers->is_array()) return keys;
    for (const Json& server : *servers) {
        const auto named = server.is_object() ? server.find("key") : server.end();
        if (named == server.end() || !named->is_string()) continue;
        const std::string key = *named;
        if (key.starts_with(kServerPrefix))
            keys.insert(key.substr(std::string_view(kServerPrefix).size()));
    }
    return keys;
}

Status checkKey(TrackerConversation& conversation, const TrackerAddress& tracker,
                const std::string& key)
{
    const Result<Json> summary = askSummary(conversation);
    if (!summary) return summary.error();
    const std::set<std::string> keys = knownKeys(*summary);
    if (keys.contains(key)) return core::kDone;
    const std::string others = core::join(std::vector<std::string>(keys.begin(), keys.end()), ", ");
    return makeError(DiagnosticCode::UnknownName,
                     "the tracker " + tracker.text() + " knows no server with the key " +
                         core::quoted(key) + "; " +
                         (keys.empty() ? "no server is registered there"
                                       : "it has servers with the keys " + others));
}

/// One attempt after the other to get a server, until the deadline.
class Queue
{
public:
    Queue(const TrackerAddress& tracker, const ServerRequest& request, milliseconds timeout,
          const JobContext& job)
        : m_tracker(tracker)
        , m_request(request)
        , m_timeout(timeout)
        , m_job(job)
        , m_deadline(Clock::now() + timeout)
        , m_random(std::random_device{}())
    {
    }
    Result<std::unique_ptr<TrackerLease::Parts>> wait();

private:
    milliseconds left() const
    {
        return std::chrono::duration_cast<milliseconds>(m_deadline - Clock::now());
    }
    Patience patience() const { return {kAnswer, &m_job}; }
    core::Diagnostic timedOut() const;
    Result<std::unique_ptr<TrackerConversation>> join();
    /// The server; an error of the link is a reason to join again.
    Result<Json> waitIn(TrackerConversation& conversation);
    Status pause();

    const TrackerAddress& m_tracker;
    const ServerRequest& m_request;
    milliseconds m_timeout;
    const JobContext& m_job;
    Clock::time_point m_deadline;
    std::minstd_rand m_random;
    milliseconds m_pause = kFirstPause;
    bool m_isKnown = false; ///< the tracker has said that there are such servers
};

} // namespace

struct TrackerLease::Parts
{
    std::unique_ptr<TrackerConversation> conversation;
    RpcAddress server;
    uint64_t number = 0;
    std::mutex mutex;
    std::condition_variable_any changed;
    JobContext heartJob;
    std::jthread heart;

    /// Ends by itself when the tracker goes: the session does not need it any more.
    void beat(const std::stop_token& stop)
    {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait_for(lock, stop, kHeartbeat, [] { return false; });
            if (stop.stop_requested()) return;
            conversation->begin({kHeartbeat, &heartJob});
            if (!conversation->ask(ping())) return;
        }
    }
};

namespace {

core::Diagnostic Queue::timedOut() const
{
    return makeError(BoardCode::QueueTimedOut,
                     "no board with the key " + core::quoted(m_request.key) +
                         " became free within " +
                         core::fixed(static_cast<double>(m_timeout.count()) / 1000, 1) +
                         " s; `tenon tracker --query " + m_tracker.text() + "` shows who has them");
}

Result<std::unique_ptr<TrackerConversation>> Queue::join()
{
    Result<std::unique_ptr<TrackerConversation>> conversation =
        TrackerConversation::open(m_tracker, patience());
    if (!conversation) return conversation.error();
    if (!m_isKnown) {
        if (Status known = checkKey(**conversation, m_tracker, m_request.key); !known)
            return known.error();
        m_isKnown = true;
    }
    const Status said = (*conversation)
                            ->say({static_cast<int>(TrackerCode::Request), m_request.key,
                                   m_request.user, m_request.priority, kKnowsLeases});
    if (!said) return said.error();
    return conversation;
}

Result<Json> Queue::waitIn(TrackerConversation& conversation)
{
    Clock::time_point nextBeat = Clock::now() + kHeartbeat;
    while (left().count() > 0) {
        if (Status go = m_job.checkStop(); !go) return go.error();
        conversation.begin(patience());
        if (Clock::now() >= nextBeat) {
            nextBeat = Clock::now() + kHeartbeat;
            if (Status said = conversation.say(ping()); !said) return said.error();
        }
        if (!conversation.hasNews(kStep)) continue;
        Result<Json> answer = conversation.hear();
        if (!answer) return answer.error();
        if (*answer == 0) continue; // of a heartbeat
        return answer;
    }
    return timedOut();
}

Status Queue::pause()
{
    // Everybody whom a restart of the tracker put off would otherwise come back at once.
    const auto some = milliseconds(static_cast<int64_t>(m_random()) % m_pause.count());
    const Clock::time_point end = std::min(m_deadline, Clock::now() + m_pause / 2 + some / 2);
    m_pause = std::min(m_pause * 2, kLongestPause);
    while (Clock::now() < end) {
        if (Status go = m_job.checkStop(); !go) return go;
        std::this_thread::sleep_for(kStep);
    }
    return core::kDone;
}

Status readServer(const Json& answer, TrackerLease::Parts& parts)
{
    try {
        if (answer.at(0) != 0)
            return makeError(DiagnosticCode::RpcFailure, "the tracker refused the request");
        const Json& server = answer.at(1);
        parts.server = {server.at(0), server.at(1), server.at(2)};
        if (!isGoodPort(server.at(1).get<int64_t>()) || !isGoodKey(parts.server.host) ||
            parts.server.key.size() > kMostMatchKeyBytes)
            return makeError(DiagnosticCode::RpcFailure,
                             "the tracker answered with an impossible address of a server");
        if (answer.size() > 2) parts.number = answer.at(2);
    } catch (const Json::exception&) {
        return makeError(DiagnosticCode::RpcFailure,
                         "the tracker answered with something else than a server");
    }
    return core::kDone;
}

bool isOfLink(DiagnosticCode code)
{
    return code == DiagnosticCode::RpcFailure || code == DiagnosticCode::TimedOut ||
           code == BoardCode::BoardUnreachable || code == BoardCode::ConnectTimedOut;
}

Result<std::unique_ptr<TrackerLease::Parts>> Queue::wait()
{
    for (;;) {
        Result<std::unique_ptr<TrackerConversation>> conversation = join();
        const Result<Json> answer =
            conversation ? waitIn(**conversation) : Result<Json>(conversation.error());
        if (answer) {
            auto parts = std::make_unique<TrackerLease::Parts>();
            if (Status read = readServer(*answer, *parts); !read) return read.error();
            parts->conversation = std::move(*conversation);
            return parts;
        }
        if (!m_isKnown || !isOfLink(answer.error().code)) return answer.error();
        if (left().count() <= 0) return timedOut();
        if (Status go = pause(); !go) return go.error();
    }
}

} // namespace

Result<TrackerAddress> TrackerAddress::parse(const std::string& text)
{
    const size_t colon = text.rfind(':');
    TrackerAddress out{.host = text.substr(0, colon)};
    const char* end = text.data() + text.size();
    const bool isGood = colon == std::string::npos ||
                        std::from_chars(text.data() + colon + 1, end, out.port).ptr == end;
    if (!isGood || out.host.empty() || out.port < 1 || out.port > 65535)
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(text) + " is no tracker; write HOST:PORT");
    return out;
}

TrackerLease::TrackerLease(std::unique_ptr<Parts> parts)
    : m_parts(std::move(parts))
{
    m_parts->heart =
        std::jthread([&its = *m_parts](const std::stop_token& stop) { its.beat(stop); });
}

TrackerLease::~TrackerLease() { m_parts->heartJob.requestStop(); }

const RpcAddress& TrackerLease::server() const { return m_parts->server; }

uint64_t TrackerLease::number() const { return m_parts->number; }

Result<std::unique_ptr<TrackerLease>> leaseServer(const TrackerAddress& tracker,
                                                  const ServerRequest& request,
                                                  milliseconds timeout, const JobContext& job)
{
    Result<std::unique_ptr<TrackerLease::Parts>> parts =
        Queue(tracker, request, timeout, job).wait();
    if (!parts) return parts.error();
    return std::make_unique<TrackerLease>(std::move(*parts));
}

Result<std::string> trackerSummary(const TrackerAddress& tracker, milliseconds timeout,
                                   const JobContext& job)
{
    const auto conversation = TrackerConversation::open(tracker, {timeout, &job});
    if (!conversation) return conversation.error();
    const Result<Json> summary = askSummary(**conversation);
    if (!summary) return summary.error();
    return summary->dump();
}

} // namespace tenon::remote
