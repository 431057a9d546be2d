// SPDX-License-Identifier: Apache-2.0
// Resolving a name and connecting, without ever blocking for good.
#include "remote/ssh/tcp.h"

#include "core/base/board_code.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr milliseconds kStep{20};
/// A host that is there answers at once.
constexpr milliseconds kLongestSilence{6000};

struct Endpoint
{
    int family = 0;
    sockaddr_storage address{};
    socklen_t size = 0;
};

/// What a resolving thread leaves behind; it may outlive the caller, who has lost patience.
struct Resolution
{
    std::mutex mutex;
    std::condition_variable changed;
    bool isDone = false;
    int status = 0;
    std::vector<Endpoint> endpoints;
};

void resolve(const std::shared_ptr<Resolution>& out, const std::string& host, int port)
{
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    std::vector<Endpoint> endpoints;
    for (const addrinfo* each = status == 0 ? list : nullptr; each; each = each->ai_next) {
        Endpoint endpoint{.family = each->ai_family, .size = each->ai_addrlen};
        std::memcpy(&endpoint.address, each->ai_addr, each->ai_addrlen);
        endpoints.push_back(endpoint);
    }
    if (list) freeaddrinfo(list);
    const std::scoped_lock lock(out->mutex);
    out->status = status;
    out->endpoints = std::move(endpoints);
    out->isDone = true;
    out->changed.notify_all();
}

core::Diagnostic unreachable(const std::string& host, int port, const std::string& why)
{
    return makeError(BoardCode::BoardUnreachable, core::quoted(host + ":" + std::to_string(port)) +
                                                      " cannot be reached: " + why);
}

core::Diagnostic tookTooLong(const std::string& host, int port)
{
    return makeError(BoardCode::ConnectTimedOut,
                     core::quoted(host + ":" + std::to_string(port)) +
                         " does not answer; is the board switched on and on this network?");
}

Result<std::vector<Endpoint>> endpointsOf(const std::string& host, int port,
                                          Clock::time_point deadline, const core::JobContext& job)
{
    const auto shared = std::make_shared<Resolution>();
    std::thread(resolve, shared, host, port).detach();
    std::unique_lock lock(shared->mutex);
    while (!shared->isDone) {
        if (core::Status go = job.checkStop(); !go) return go.error();
        if (Clock::now() >= deadline) return tookTooLong(host, port);
        shared->changed.wait_for(lock, kStep);
    }
    if (shared->status != 0)
        return unreachable(host, port,
                           std::string("the name is not known (") + gai_strerror(shared->status) +
                               "); check its spelling or give the address");
    return shared->endpoints;
}

std::string plainReason(int error)
{
    switch (error) {
    case ECONNREFUSED: return "it refuses connections; does the server run there, on this port?";
    case EHOSTUNREACH:
    case ENETUNREACH: return "there is no route to it; is it on this network?";
    default: return std::strerror(error);
    }
}

/// 0, an errno, or -1 when the job was stopped and -2 when time was up.
int finishConnect(int fd, Clock::time_point deadline, const core::JobContext& job)
{
    for (;;) {
        if (job.stopRequested()) return -1;
        if (Clock::now() >= deadline) return -2;
        pollfd entry{fd, POLLOUT, 0};
        if (poll(&entry, 1, static_cast<int>(kStep.count())) <= 0) continue;
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }
}

/// Small messages go at once, and a peer that is silently gone is noticed after six seconds, with
/// and without anything to send.
void tune(int fd)
{
    const std::array<std::array<int, 3>, 6> options{{{IPPROTO_TCP, TCP_NODELAY, 1},
                                                     {SOL_SOCKET, SO_KEEPALIVE, 1},
                                                     {IPPROTO_TCP, TCP_KEEPIDLE, 2},
                                                     {IPPROTO_TCP, TCP_KEEPINTVL, 1},
                                                     {IPPROTO_TCP, TCP_KEEPCNT, 4},
                                                     {IPPROTO_TCP, TCP_USER_TIMEOUT, 6000}}};
    for (const auto& [level, name, value] : options)
        setsockopt(fd, level, name, &value, sizeof value);
}

} // namespace

Result<int> connectTcp(const std::string& host, int port, milliseconds timeout,
                       const core::JobContext& job)
{
    const Clock::time_point deadline = Clock::now() + timeout;
    const Result<std::vector<Endpoint>> endpoints = endpointsOf(host, port, deadline, job);
    if (!endpoints) return endpoints.error();
    // Whatever resolving the name took: each address has its part of what is left.
    const Clock::time_point end = std::min(deadline, Clock::now() + kLongestSilence);
    int reason = EHOSTUNREACH;
    size_t others = endpoints->size();
    for (const Endpoint& each : *endpoints) {
        const Clock::time_point until = Clock::now() + (end - Clock::now()) / others--;
        const int fd = socket(each.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) continue;
        const auto* address = reinterpret_cast<const sockaddr*>(&each.address);
        reason = connect(fd, address, each.size) == 0 ? 0 : errno;
        if (reason == EINPROGRESS) reason = finishConnect(fd, until, job);
        if (reason == 0) {
            tune(fd);
            return fd;
        }
        close(fd);
        if (reason == -1) return makeError(DiagnosticCode::Cancelled, "cancelled");
    }
    if (reason == -2) return tookTooLong(host, port);
    return unreachable(host, port, plainReason(reason));
}

} // namespace tenon::remote
