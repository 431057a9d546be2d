// SPDX-License-Identifier: Apache-2.0
// One board and the connection to it.
#include "remote/deploy/deployer.h"

#include "remote/deploy/deploy_run.h"

namespace tenon::remote {

using core::Result;
using core::Status;

double DeployReport::overheadMs() const
{
    double rest = totalMs;
    for (const DeployStep& step : steps) {
        const bool isTheWorkItself = step.phase == DeployPhase::Compile ||
                                     step.phase == DeployPhase::Run ||
                                     step.phase == DeployPhase::Benchmark;
        if (isTheWorkItself) rest -= step.ms;
    }
    return rest;
}

Deployer::Deployer(Board board, DeployEnvironment environment)
    : m_board(std::move(board))
    , m_environment(std::move(environment))
{
}

Deployer::~Deployer()
{
    // Whoever wants to know how this went calls close() himself.
    static_cast<void>(close());
}

DeployReportPtr Deployer::deploy(const DeployRequest& request, core::JobContext& job,
                                 const DeployObserver& observer)
{
    return DeployRun(*this, request, job, observer).run();
}

Result<BoardFacts> Deployer::probe(const PhaseLimits& limits, core::JobContext& job)
{
    if (!m_link) {
        Result<std::unique_ptr<BoardLink>> link = openBoardLink({.board = m_board,
                                                                 .environment = m_environment,
                                                                 .timeout = limits.connect,
                                                                 .queueTimeout = limits.queue},
                                                                job);
        if (!link) return inPhase(link.error(), DeployPhase::Connect, m_board.name);
        m_link = std::move(*link);
        m_keepsFiles = false;
    }
    const Result<BoardFacts> facts = m_link->probe(limits.probe, job);
    if (!facts) return inPhase(facts.error(), DeployPhase::Probe, m_board.name);
    return facts;
}

Result<std::string> Deployer::measure(const PhaseLimits& limits, core::JobContext& job)
{
    if (!m_link)
        if (const Result<BoardFacts> facts = probe(limits, job); !facts) return facts.error();
    const Result<std::string> text = m_link->measure(limits.run, job);
    if (!text) return inPhase(text.error(), DeployPhase::Probe, m_board.name);
    return text;
}

Status Deployer::close(std::chrono::milliseconds timeout)
{
    if (!m_link) return core::kDone;
    const Status done = m_link->close(m_keepsFiles, timeout);
    m_link.reset();
    return done;
}

} // namespace tenon::remote
