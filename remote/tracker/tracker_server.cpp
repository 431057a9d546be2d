// SPDX-License-Identifier: Apache-2.0
// A tracker of TVM's protocol on a port: one thread, nothing in it ever waits for one peer.
#include "remote/tracker/tracker_server.h"

#include "core/base/text.h"
#include "remote/tracker/tracker_wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

constexpr size_t kMostPeers = 1024;
constexpr size_t kMostPeersOfOneHost = 512;
/// Connections of a host, compared with those of another and by themselves, that are a crowd.
constexpr size_t kFarMore = 8;
constexpr size_t kCrowd = 64;
/// A peer that does not read its answers gets no more, and in the end is hung up on.
constexpr size_t kManyUnread = size_t{64} << 10;
constexpr size_t kMostUnread = size_t{4} << 20;
/// Of connections, and of one peer's messages, before others have their turn.
constexpr int kAtOnce = 16;
/// A descriptor for each peer, and some for the rest of the program.
constexpr rlim_t kDescriptors = kMostPeers + 256;

TrackerState::Time now()
{
    return std::chrono::duration_cast<TrackerState::Time>(
        std::chrono::steady_clock::now().time_since_epoch());
}

/// A number of leases that no tracker of before can have reached: the milliseconds of the clock.
uint64_t aboveEarlierLives()
{
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
}

/// Boards lose power in the middle of sessions; their connections then end within half a minute.
void setOptions(int fd)
{
    const int yes = 1;
    const int idleS = 10;
    const int intervalS = 5;
    const int probes = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idleS, sizeof idleS);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &intervalS, sizeof intervalS);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

} // namespace

struct TrackerServer::Peer
{
    int fd;
    std::string host;
    TrackerState::Time heard;
    bool hasGreeted = false;
    TrackerStream in{kMaxTrackerRequest};
    std::string out;

    bool mayAsk() const { return out.size() < kManyUnread; }
};

TrackerServer::TrackerServer(int listener, int port, const TrackerServerOptions& options)
    : m_listener(listener)
    , m_port(port)
    , m_greeting(options.greeting)
    , m_state(options.rules)
{
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= kDescriptors) return;
    files.rlim_cur = std::min(files.rlim_max, kDescriptors);
    setrlimit(RLIMIT_NOFILE, &files);
}

TrackerServer::~TrackerServer()
{
    while (!m_peers.empty()) hangUp(m_peers.begin()->first);
    close(m_listener);
}

Result<std::unique_ptr<TrackerServer>> TrackerServer::listen(const TrackerServerOptions& options)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(options.port));
    if (inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1)
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(options.host) + " is no address of this computer; write " +
                             "127.0.0.1 or 0.0.0.0");
    const int yes = 1;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool isListening = fd >= 0 &&
                             setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                             bind(fd, generic, size) == 0 && ::listen(fd, SOMAXCONN) == 0 &&
                             getsockname(fd, generic, &size) == 0;
    if (isListening) {
        TrackerServerOptions chosen = options;
        chosen.rules.firstLease = std::max(chosen.rules.firstLease, aboveEarlierLives());
        return std::unique_ptr<TrackerServer>(
            new TrackerServer(fd, ntohs(address.sin_port), chosen));
    }
    const int reason = errno;
    if (fd >= 0) close(fd);
    return makeError(DiagnosticCode::IoFailure, "cannot listen on port " +
                                                    std::to_string(options.port) + ": " +
                                                    std::strerror(reason));
}

/// No host gets in by pushing out those of hosts that have far fewer connections; not even those
/// that wait or serve are safe when it is their host that crowds the others out.
bool TrackerServer::makeRoom(const std::string& host)
{
    std::map<std::string, size_t> counts;
    for (const auto& [id, peer] : m_peers) ++counts[peer->host];
    const size_t own = counts[host];
    const bool areMany = own >= kMostPeersOfOneHost;
    if (!areMany && m_peers.size() < kMostPeers) return true;
    const auto uses = m_state.uses();
    const auto mayGo = [&](const Peer& peer, TrackerState::Use use) {
        const size_t count = counts.at(peer.host);
        if (areMany) return peer.host == host && use != TrackerState::Use::Serves;
        if (use == TrackerState::Use::None) return count * kFarMore >= own;
        return count >= kCrowd && count > 2 * own;
    };
    // First whoever has been silent longest, before all those who have not even greeted; then the
    // last comer of the largest crowd, those who only wait first.
    using Rank = std::tuple<bool, size_t, TrackerState::Use, bool, int64_t>;
    std::optional<Rank> least;
    uint64_t leaving = 0;
    for (const auto& [id, peer] : m_peers) {
        const auto found = uses.find(id);
        const auto use = found == uses.end() ? TrackerState::Use::None : found->second;
        if (!mayGo(*peer, use)) continue;
        const bool isUseful = use != TrackerState::Use::None;
        const Rank rank{isUseful, isUseful ? kMostPeers - counts.at(peer->host) : 0, use,
                        peer->hasGreeted,
                        isUseful ? -static_cast<int64_t>(id) : peer->heard.count()};
        if (least && rank >= *least) continue;
        least = rank;
        leaving = id;
    }
    if (leaving != 0) hangUp(leaving);
    return leaving != 0;
}

void TrackerServer::acceptSome()
{
    for (int i = 0; i < kAtOnce; ++i) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        const int fd = accept4(m_listener, reinterpret_cast<sockaddr*>(&address), &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        std::array<char, INET_ADDRSTRLEN> host{};
        inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
        if (!makeRoom(host.data())) {
            close(fd);
            continue;
        }
        setOptions(fd);
        m_state.open(m_next, host.data(), now());
        m_peers.emplace(
            m_next++, std::make_unique<Peer>(Peer{.fd = fd, .host = host.data(), .heard = now()}));
    }
}

void TrackerServer::hangUpOnSilentOnes()
{
    std::vector<uint64_t> silent = m_state.silentOnes(now());
    for (const auto& [id, peer] : m_peers)
        if (!peer->hasGreeted && now() - peer->heard > m_greeting) silent.push_back(id);
    for (const uint64_t id : silent)
        if (m_peers.contains(id)) hangUp(id);
}

void TrackerServer::hangUp(uint64_t id)
{
    close(m_peers.at(id)->fd);
    m_peers.erase(id);
    m_state.close(id);
}

bool TrackerServer::writeTo(Peer& peer)
{
    while (!peer.out.empty()) {
        const ssize_t sent = send(peer.fd, peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno == EAGAIN && peer.out.size() < kMostUnread;
        peer.out.erase(0, static_cast<size_t>(sent));
    }
    return true;
}

bool TrackerServer::readFrom(uint64_t id)
{
    Peer& peer = *m_peers.at(id);
    std::array<char, 65536> block;
    const ssize_t got = recv(peer.fd, block.data(), block.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    peer.in.append({block.data(), static_cast<size_t>(got)});
    if (!peer.hasGreeted) { // its time goes on with each byte
        const std::optional<int32_t> magic = peer.in.number();
        if (!magic) return true;
        if (*magic != kTrackerMagic) return false; // hang up without another word
        peer.hasGreeted = true;
        peer.out += trackerNumber(kTrackerMagic);
    }
    peer.heard = now();
    return true;
}

bool TrackerServer::answer(uint64_t id)
{
    Peer& peer = *m_peers.at(id);
    bool isGood = true;
    for (int i = 0; i < kAtOnce && isGood && peer.hasGreeted && peer.mayAsk(); ++i) {
        const std::optional<std::string> message = peer.in.next();
        if (!message) break;
        for (const TrackerState::Reply& reply : m_state.handle(id, *message, now(), isGood)) {
            const auto to = m_peers.find(reply.to);
            if (to != m_peers.end()) to->second->out += trackerMessage(reply.message);
        }
    }
    if (!isGood) static_cast<void>(writeTo(peer)); // the refusal, if it still gets through
    return isGood && !peer.in.isBroken();
}

Status TrackerServer::serve(const core::JobContext& job)
{
    while (!job.stopRequested() && !m_state.hasEnded()) {
        std::vector<pollfd> entries{{m_listener, POLLIN, 0}};
        std::vector<uint64_t> ids{0};
        bool isBusy = false;
        for (const auto& [id, peer] : m_peers) {
            // What it said before has its turn first.
            const bool hasWork = peer->hasGreeted && peer->in.hasNext() && peer->mayAsk();
            const int events = (peer->mayAsk() && !hasWork ? POLLIN : 0) | POLLRDHUP |
                               (peer->out.empty() ? 0 : POLLOUT);
            entries.push_back({peer->fd, static_cast<short>(events), 0});
            ids.push_back(id);
            isBusy = isBusy || hasWork;
        }
        if (poll(entries.data(), entries.size(), isBusy ? 0 : 50) < 0) continue;
        std::vector<uint64_t> broken;
        for (size_t i = 1; i < entries.size(); ++i) {
            const bool isReadable = (entries[i].revents & ~POLLOUT) != 0;
            if ((isReadable && !readFrom(ids[i])) || !answer(ids[i])) broken.push_back(ids[i]);
        }
        for (const auto& [id, peer] : m_peers)
            if (!writeTo(*peer)) broken.push_back(id);
        for (const uint64_t id : broken)
            if (m_peers.contains(id)) hangUp(id);
        hangUpOnSilentOnes();
        if (entries[0].revents != 0) acceptSome();
    }
    return core::kDone;
}

} // namespace tenon::remote
