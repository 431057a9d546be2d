// SPDX-License-Identifier: Apache-2.0
// A byte link to a server: blocking reads and writes that obey a deadline and a stop request.
#pragma once

#include "core/base/result.h"
#include "core/jobs/job.h"
#include "remote/rpc/silence.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace tenon::remote {

/// How long one exchange may take, and who may stop it.
struct Patience
{
    std::chrono::milliseconds timeout{std::chrono::minutes(5)};
    const core::JobContext* job = nullptr;
    /// Of a server that gives signs of life all the time; 0: it may be as silent as it likes.
    std::chrono::milliseconds longestSilence{0};
};

/// Owns a connected socket. After any failure the link is broken and stays so.
class Link
{
public:
    explicit Link(int fd);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// One exchange: everything until the next call of begin() shares one deadline.
    void begin(const Patience& patience);
    /// Errors: Cancelled, TimedOut, LinkLost when the other side is silent, RpcFailure when it is
    /// gone.
    core::Status send(std::span<const std::byte> data);
    core::Status receive(std::span<std::byte> data);
    /// `size` bytes that the other side announced: memory grows with what comes, not before.
    core::Status receive(std::string& out, size_t size);
    bool isBroken() const { return m_broken; }

private:
    /// Errors when time is up or the job was stopped.
    core::Status check();
    core::Status wait(short events);
    /// Changes with whatever the other side says or takes.
    uint64_t signOfLife() const;
    core::Status broken(core::Diagnostic why);

    int m_fd;
    bool m_broken = false;
    Patience m_patience;
    std::chrono::steady_clock::time_point m_deadline;
    Silence m_silence{std::chrono::milliseconds(0)};
    uint64_t m_moved = 0; ///< bytes, in either direction
};

} // namespace tenon::remote
