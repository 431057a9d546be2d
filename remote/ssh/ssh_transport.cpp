// SPDX-License-Identifier: Apache-2.0
// A libssh session that several threads may use.
#include "remote/ssh/ssh_transport.h"

#include "core/base/board_code.h"
#include "core/base/text.h"

#include <fcntl.h>
#include <libssh/server.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

/// Another thread may take our packets off the socket: look again after this even without traffic.
constexpr milliseconds kStep{10};
/// Questions in the longest silence: libssh sends one, and takes the answer with the next call.
constexpr int kBeats = 12;
constexpr int kMuch = 32 * 1024;

} // namespace

milliseconds Deadline::left() const
{
    return std::chrono::duration_cast<milliseconds>(m_end - std::chrono::steady_clock::now());
}

Status Deadline::check(const std::string& peer) const
{
    if (Status go = m_job.checkStop(); !go) return go;
    if (left().count() > 0) return core::kDone;
    const double seconds = static_cast<double>(m_timeout.count()) / 1000;
    return makeError(DiagnosticCode::TimedOut, core::quoted(peer) + " did not answer within " +
                                                   core::fixed(seconds, 1) + " s");
}

SshTransport::SshTransport(int fd, std::string peer, milliseconds longestSilence)
    : m_fd(fd)
    , m_copy(fcntl(fd, F_DUPFD_CLOEXEC, 3))
    , m_session(ssh_new())
    , m_peer(std::move(peer))
    , m_longestSilence(longestSilence)
{
    CHECK(m_session) << "libssh has no memory";
    const int no = 0;
    const int yes = 1;
    ssh_options_set(m_session, SSH_OPTIONS_PROCESS_CONFIG, &no);
    ssh_options_set(m_session, SSH_OPTIONS_FD, &m_copy);
    // With Nagle's delay on, small writes crawl at 1 MB/s; the socket has it off as well.
    ssh_options_set(m_session, SSH_OPTIONS_NODELAY, &yes);
    ssh_set_blocking(m_session, 0);
    ssh_set_counters(m_session, &m_counter, nullptr);
}

SshTransport::~SshTransport()
{
    m_heart = {};
    ssh_disconnect(m_session);
    ssh_free(m_session);
    // Some versions of libssh close the descriptor they were given, some do not: ours tells whether
    // the number still means the same socket.
    struct stat ours
    {
    };
    struct stat theirs
    {
    };
    const bool isOpen = fstat(m_fd, &ours) == 0 && fstat(m_copy, &theirs) == 0 &&
                        ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
    if (isOpen) close(m_copy);
    close(m_fd);
}

bool SshTransport::isAlive()
{
    if (m_isCut) return false;
    const std::scoped_lock lock(m_mutex);
    return ssh_is_connected(m_session) != 0;
}

void SshTransport::cut()
{
    m_isCut = true;
    shutdown(m_fd, SHUT_RDWR);
}

uint64_t SshTransport::signOfLife()
{
    const std::scoped_lock lock(m_mutex);
    int unacknowledged = 0;
    ioctl(m_fd, SIOCOUTQ, &unacknowledged);
    // The system acknowledges small messages for a server that hangs, but not without end.
    if (unacknowledged < kMuch) unacknowledged = 0;
    return m_counter.in_bytes << 32 ^ static_cast<uint64_t>(unacknowledged);
}

std::string SshTransport::silenceText() const
{
    return core::fixed(static_cast<double>(m_longestSilence.count()) / 1000, 1) + " s";
}

void SshTransport::startHeart()
{
    m_heart = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

void SshTransport::beat(const std::stop_token& stop)
{
    Silence silence(m_longestSilence);
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock waiting(mutex);
    while (!wake.wait_for(waiting, stop, m_longestSilence / kBeats,
                          [&] { return stop.stop_requested(); })) {
        if (!isAlive()) return;
        {
            const std::scoped_lock lock(m_mutex);
            ssh_send_keepalive(m_session);
        }
        if (!silence.persists(signOfLife())) continue;
        m_isSilent = true;
        return cut();
    }
}

core::Diagnostic SshTransport::lost()
{
    if (m_isSilent)
        return makeError(BoardCode::LinkLost,
                         core::quoted(m_peer) + " has not answered for " + silenceText() +
                             "; is the board still powered and on the network?");
    return makeError(BoardCode::LinkLost,
                     "the connection to " + core::quoted(m_peer) +
                         " was lost; is the board still powered and on the network?");
}

std::string SshTransport::reason()
{
    const std::scoped_lock lock(m_mutex);
    std::string text = ssh_get_error(m_session);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

void SshTransport::waitForTraffic(milliseconds atMost, int extra, short extraEvents)
{
    short events = POLLIN;
    {
        const std::scoped_lock lock(m_mutex);
        if (ssh_get_poll_flags(m_session) & SSH_WRITE_PENDING) events |= POLLOUT;
    }
    std::array<pollfd, 2> entries{pollfd{m_fd, events, 0}, pollfd{extra, extraEvents, 0}};
    poll(entries.data(), entries.size(), static_cast<int>(std::min(atMost, kStep).count()));
}

Result<int> SshTransport::retry(const std::function<int()>& attempt, const Deadline& deadline)
{
    Silence silence(m_longestSilence);
    for (;;) {
        if (Status go = deadline.check(m_peer); !go) return go.error();
        if (m_isCut) return lost();
        if (!m_heart.joinable() && silence.persists(signOfLife()))
            return makeError(DiagnosticCode::TimedOut,
                             core::quoted(m_peer) + " has said nothing for " + silenceText());
        int status = SSH_AGAIN;
        {
            const std::scoped_lock lock(m_mutex);
            status = attempt();
        }
        if (status != SSH_AGAIN) return status;
        waitForTraffic(std::max(milliseconds(1), deadline.left()));
    }
}

Status SshTransport::complete(const std::function<int()>& attempt, const Deadline& deadline,
                              DiagnosticCode code, const std::string& doing)
{
    const Result<int> status = retry(attempt, deadline);
    if (!status) return status.error();
    if (*status == SSH_OK) return core::kDone;
    if (!isAlive()) return lost();
    return makeError(code, core::quoted(m_peer) + " did not let Tenon " + doing + ": " + reason());
}

} // namespace tenon::remote
