// SPDX-License-Identifier: Apache-2.0
// Making the way to a board ready.
#include "remote/deploy/arrival.h"

#include "core/base/clock.h"

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;
using Clock = std::chrono::steady_clock;

namespace {

/// How soon a stop request of the waiting job is passed on.
constexpr std::chrono::milliseconds kStep{10};

enum Stage
{
    kConnected = 1,
    kProbed = 2,
    kOver = 3
};

} // namespace

Arrival::Arrival(LinkRequest request, const PhaseLimits& limits)
    : m_request(std::move(request))
    , m_thread([this, limits] {
        const Status ran = core::runGuarded(
            [&](JobContext&) {
                run(limits);
                return core::kDone;
            },
            m_job);
        double unused = 0;
        if (!ran) m_connected = ran.error();
        tell(kOver, unused, Clock::now());
    })
{
}

Arrival::~Arrival()
{
    stop();
    m_thread.join();
}

void Arrival::tell(int results, double& field, Clock::time_point start)
{
    const std::scoped_lock lock(m_mutex);
    field = core::millisecondsSince(start);
    m_results = results;
    m_changed.notify_all();
}

void Arrival::run(const PhaseLimits& limits)
{
    Clock::time_point start = Clock::now();
    Result<std::unique_ptr<BoardLink>> link = openBoardLink(m_request, m_job);
    if (link)
        m_link = std::move(*link);
    else
        m_connected = link.error();
    tell(kConnected, m_connectMs, start);
    if (!m_link) return;
    start = Clock::now();
    m_facts = m_link->probe(limits.probe, m_job);
    tell(kProbed, m_probeMs, start);
    if (m_facts) m_link->prepare(limits.upload, m_job);
}

void Arrival::await(int results, const JobContext& job)
{
    std::unique_lock lock(m_mutex);
    while (m_results < results) {
        m_changed.wait_for(lock, kStep);
        if (job.stopRequested()) stop();
    }
}

Status Arrival::connected(const JobContext& job)
{
    await(kConnected, job);
    return m_connected;
}

Result<BoardFacts> Arrival::facts(const JobContext& job)
{
    await(kProbed, job);
    return m_facts;
}

std::unique_ptr<BoardLink> Arrival::takeLink(const JobContext& job)
{
    await(kOver, job);
    return std::move(m_link);
}

} // namespace tenon::remote
