// SPDX-License-Identifier: Apache-2.0
// SshTransport: a libssh session that several threads may use, always without blocking.
#pragma once

#include "core/jobs/job.h"
#include "remote/rpc/silence.h"

#include <libssh/libssh.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tenon::remote {

/// The end of one exchange's time, and who may stop it sooner.
class Deadline
{
public:
    Deadline(std::chrono::milliseconds timeout, const core::JobContext& job)
        : m_timeout(timeout)
        , m_end(std::chrono::steady_clock::now() + timeout)
        , m_job(job)
    {
    }
    /// Errors: Cancelled, TimedOut ("`peer` did not answer within 5.0 s").
    core::Status check(const std::string& peer) const;
    void extend(std::chrono::steady_clock::duration pause) { m_end += pause; }
    std::chrono::milliseconds left() const;

private:
    std::chrono::milliseconds m_timeout;
    std::chrono::steady_clock::time_point m_end;
    const core::JobContext& m_job;
};

class SshTransport
{
public:
    /// Takes over the connected socket, and gives up on a peer that is silent for so long.
    SshTransport(int fd, std::string peer, std::chrono::milliseconds longestSilence);
    SshTransport(const SshTransport&) = delete;
    SshTransport& operator=(const SshTransport&) = delete;
    ~SshTransport();

    /// Calls `attempt` under the lock until it returns something else than SSH_AGAIN, and returns
    /// that. Errors: Cancelled, TimedOut, LinkLost.
    core::Result<int> retry(const std::function<int()>& attempt, const Deadline& deadline);
    /// The same as a Status: SSH_ERROR becomes LinkLost or, with the link alive, `code`.
    core::Status complete(const std::function<int()>& attempt, const Deadline& deadline,
                          core::DiagnosticCode code, const std::string& doing);
    /// From now on the peer is asked all the time whether it lives, and the connection is cut when
    /// it says nothing; before, each retry() fails with TimedOut when the peer says nothing so
    /// long.
    void startHeart();
    /// Waits a moment for traffic; `extra` is another descriptor to wake for.
    void waitForTraffic(std::chrono::milliseconds atMost, int extra = -1, short extraEvents = 0);

    ssh_session session() const { return m_session; }
    std::mutex& mutex() { return m_mutex; }
    const std::string& peer() const { return m_peer; }
    bool isAlive();
    /// Breaks the connection so that every user of it fails soon.
    void cut();
    core::Diagnostic lost();
    /// libssh's words for what went wrong, as one line.
    std::string reason();

private:
    /// Changes with whatever comes from the peer, and with what it acknowledges.
    uint64_t signOfLife();
    void beat(const std::stop_token& stop);
    std::string silenceText() const;

    int m_fd;   ///< ours, to wait on and to cut
    int m_copy; ///< libssh's
    ssh_session m_session;
    std::mutex m_mutex;
    std::string m_peer;
    std::chrono::milliseconds m_longestSilence;
    std::atomic<bool> m_isCut{false};
    std::atomic<bool> m_isSilent{false}; ///< and therefore cut
    ssh_counter_struct m_counter{};
    std::jthread m_heart;
};

} // namespace tenon::remote
