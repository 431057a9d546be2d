// SPDX-License-Identifier: Apache-2.0
// A byte link to a server.
#include "remote/rpc/link.h"

#include "core/base/board_code.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Status;
using std::chrono::milliseconds;

namespace {

/// Cancel must be felt at once; a look at the flag costs nothing.
constexpr milliseconds kPollStep{20};

} // namespace

Link::Link(int fd)
    : m_fd(fd)
{
    fcntl(m_fd, F_SETFL, fcntl(m_fd, F_GETFL) | O_NONBLOCK);
    begin({});
}

Link::~Link() { close(m_fd); }

void Link::begin(const Patience& patience)
{
    m_patience = patience;
    m_deadline = std::chrono::steady_clock::now() + patience.timeout;
    m_silence = Silence(patience.longestSilence);
}

uint64_t Link::signOfLife() const
{
    int unread = 0;
    ioctl(m_fd, FIONREAD, &unread);
    return m_moved + static_cast<uint64_t>(unread);
}

Status Link::broken(core::Diagnostic why)
{
    m_broken = true;
    return why;
}

Status Link::check()
{
    if (m_patience.job && m_patience.job->stopRequested())
        return broken(makeError(DiagnosticCode::Cancelled, "cancelled"));
    const auto text = [](milliseconds time) {
        return core::fixed(static_cast<double>(time.count()) / 1000, 1) + " s";
    };
    if (m_patience.longestSilence.count() > 0 && m_silence.persists(signOfLife()))
        return broken(makeError(core::BoardCode::LinkLost,
                                "the server has given no sign of life for " +
                                    text(m_patience.longestSilence) +
                                    "; is the board still powered, and its server not stopped?"));
    if (std::chrono::steady_clock::now() < m_deadline) return core::kDone;
    return broken(makeError(DiagnosticCode::TimedOut,
                            "the server did not answer within " + text(m_patience.timeout)));
}

Status Link::wait(short events)
{
    for (;;) {
        if (Status go = check(); !go) return go;
        const auto left =
            std::chrono::duration_cast<milliseconds>(m_deadline - std::chrono::steady_clock::now());
        pollfd entry{m_fd, events, 0};
        const auto step = std::clamp(left, milliseconds(0), kPollStep);
        const int ready = poll(&entry, 1, static_cast<int>(step.count()));
        if (ready > 0) return core::kDone;
        if (ready < 0 && errno != EINTR)
            return broken(makeError(DiagnosticCode::RpcFailure,
                                    std::string("the link failed: ") + std::strerror(errno)));
    }
}

Status Link::send(std::span<const std::byte> data)
{
    if (m_broken) return makeError(DiagnosticCode::RpcFailure, "the link is broken");
    while (!data.empty()) {
        const ssize_t sent = ::send(m_fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            data = data.subspan(static_cast<size_t>(sent));
            m_moved += static_cast<uint64_t>(sent);
        } else if (errno == EAGAIN || errno == EINTR) {
            if (Status ready = wait(POLLOUT); !ready) return ready;
        } else {
            return broken(makeError(DiagnosticCode::RpcFailure, "the server ended the link"));
        }
    }
    return core::kDone;
}

Status Link::receive(std::string& out, size_t size)
{
    constexpr size_t kFirstStep = size_t{1} << 20;
    out.clear();
    while (out.size() < size) {
        const size_t before = out.size();
        out.resize(before + std::min(size - before, std::max(before, kFirstStep)));
        if (Status got = receive(std::as_writable_bytes(std::span(out)).subspan(before)); !got)
            return got;
    }
    return core::kDone;
}

Status Link::receive(std::span<std::byte> data)
{
    if (m_broken) return makeError(DiagnosticCode::RpcFailure, "the link is broken");
    while (!data.empty()) {
        const ssize_t got = recv(m_fd, data.data(), data.size(), 0);
        if (got > 0) {
            data = data.subspan(static_cast<size_t>(got));
            m_moved += static_cast<uint64_t>(got);
            // Who always has something more to say is not waited for, but has the same time.
            if (Status go = check(); !go) return go;
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (Status ready = wait(POLLIN); !ready) return ready;
        } else {
            return broken(makeError(DiagnosticCode::RpcFailure, "the server ended the link"));
        }
    }
    return core::kDone;
}

} // namespace tenon::remote
