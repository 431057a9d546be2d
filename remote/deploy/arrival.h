// SPDX-License-Identifier: Apache-2.0
// Arrival: makes the way to a board ready while something else, such as compiling, goes on.
#pragma once

#include "remote/deploy/board_link.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenon::remote {

/// Connects, probes and prepares on a thread of its own; prompts are asked there. Everything else
/// is for one thread.
class Arrival
{
public:
    Arrival(LinkRequest request, const PhaseLimits& limits);
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    ~Arrival(); ///< stops and waits

    /// Wait for how connecting and probing went; a stop request of `job` stops them.
    core::Status connected(const core::JobContext& job);
    core::Result<BoardFacts> facts(const core::JobContext& job);
    /// Waits for the end of everything; null when there is no connection.
    std::unique_ptr<BoardLink> takeLink(const core::JobContext& job);
    void stop() { m_job.requestStop(); }

    double connectMs() const { return m_connectMs; } ///< what it took there, once connected()
    double probeMs() const { return m_probeMs; }

private:
    void run(const PhaseLimits& limits);
    /// Waits until so many of the two results are there.
    void await(int results, const core::JobContext& job);
    void tell(int results, double& field, std::chrono::steady_clock::time_point start);

    LinkRequest m_request;
    core::JobContext m_job;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_results = 0; ///< 1: connected, 2: probed, 3: everything is over
    std::unique_ptr<BoardLink> m_link;
    core::Status m_connected = core::kDone;
    core::Result<BoardFacts> m_facts = BoardFacts{};
    double m_connectMs = 0;
    double m_probeMs = 0;
    std::thread m_thread;
};

} // namespace tenon::remote
