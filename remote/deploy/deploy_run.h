// SPDX-License-Identifier: Apache-2.0
// DeployRun: one deployment, step by step, with its report.
#pragma once

#include "remote/deploy/arrival.h"

namespace tenon::remote {

class DeployRun
{
public:
    DeployRun(Deployer& deployer, const DeployRequest& request, core::JobContext& job,
              const DeployObserver& observer);
    DeployReportPtr run();

private:
    using Body = std::function<core::Status(std::string& detail)>;
    /// Runs one step unless an earlier one failed; `applies` false skips it.
    void step(DeployPhase phase, const Body& body, bool applies = true);
    DeployStep& stepOf(DeployPhase phase);
    void publish();
    void log(const std::string& sentence) { m_report.log.push_back(sentence); }
    std::chrono::milliseconds limit(DeployPhase phase) const { return m_request.limits.of(phase); }

    void aim(unsigned cores);
    bool knowsEnough() const;
    core::ThreadChoice threads() const;
    /// Connects in the background unless the deployer is connected.
    void startArrival();
    core::Status compile(std::string& detail);
    core::Status connect(std::string& detail);
    core::Status probe(std::string& detail);
    core::Status check(std::string& detail);
    core::Status upload(std::string& detail);
    core::Status load(std::string& detail);
    core::Status execute(std::string& detail);
    core::Status benchmark(std::string& detail);
    core::Status fetch(std::string& detail);
    /// The link, made ready; from here on it is the deployer's.
    BoardLink* link();
    core::Diagnostic explained(const core::Diagnostic& error);
    void cleanUp();
    std::string uncertainty(const core::Status& closed, const BoardLink& link);

    Deployer& m_deployer;
    const DeployRequest& m_request;
    core::JobContext& m_job;
    const DeployObserver& m_observer;
    std::chrono::steady_clock::time_point m_start;
    DeployReport m_report;
    BuiltModel m_model;
    RunRequest m_runRequest;
    std::unique_ptr<Arrival> m_arrival; ///< while it is on its way
    double m_elsewhereMs = 0;           ///< what the current step took in the background
    std::unique_ptr<LocalSession> m_session;
};

} // namespace tenon::remote
