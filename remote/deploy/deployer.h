// SPDX-License-Identifier: Apache-2.0
// Deployer: compiles for a board, brings the model there, runs and measures it, and cleans up.
#pragma once

#include "core/artifact/manifest.h"
#include "core/jobs/job.h"
#include "core/target/thread_choice.h"
#include "remote/board/board.h"
#include "remote/board/board_facts.h"
#include "remote/deploy/deploy_step.h"
#include "remote/session/local_board.h"
#include "remote/ssh/ssh_session.h"

#include <functional>
#include <memory>
#include <optional>

namespace tenon::remote {

class BoardLink;

/// A compiled model, ready to be sent.
struct BuiltModel
{
    std::string path; ///< of the shared library
    core::Manifest manifest;
    std::vector<std::string> features;    ///< LLVM features its code may use
    std::shared_ptr<const void> lifetime; ///< keeps `path` alive
};

struct DeployRequest
{
    /// Compiles for a target string; remote itself knows no compiler.
    std::function<core::Result<BuiltModel>(const std::string& target, core::JobContext& job)> build;
    /// Inputs for a compiled model; empty function: it is loaded but not run.
    std::function<core::Result<NamedTensors>(const core::Manifest& manifest)> inputs;
    std::string target; ///< empty: the board's own
    std::optional<TimingRequest> timing;
    unsigned threads = 0;        ///< asked for; 0: as core::chooseThreads() says
    bool keepsFiles = false;     ///< what was sent stays on the board for the next time
    bool staysConnected = false; ///< the next deploy() of this Deployer starts warm
    bool skipsPreflight = false;
    PhaseLimits limits;
};

/// How far a deployment is, or was when it ended. Immutable; a change is a new report.
struct DeployReport
{
    Board board;
    std::string target;
    std::vector<DeployStep> steps; ///< all phases, in order
    std::vector<std::string> log;  ///< plain sentences, oldest first
    std::vector<Check> checks;     ///< of probe and preflight
    BoardFacts facts;
    core::Manifest manifest;
    std::string sha256;         ///< of the artifact that was brought there
    core::ThreadChoice threads; ///< to run with; known once the model is loaded
    std::vector<core::Tensor> outputs;
    std::optional<Timing> timing;
    SamplingState sampling; ///< while it is being measured
    int64_t sentBytes = 0;
    int64_t reusedBytes = 0; ///< found on the board, not sent again
    double totalMs = 0;
    bool isFinished = false;
    std::optional<core::Diagnostic> error;

    /// The time that passed without compiling, running or measuring. The steps before the upload go
    /// on beside compiling: they may add up to more.
    double overheadMs() const;
};
using DeployReportPtr = std::shared_ptr<const DeployReport>;
/// Called on the deploying thread after every change.
using DeployObserver = std::function<void(const DeployReportPtr&)>;

/// What deployments need of this computer.
struct DeployEnvironment
{
    SshOptions ssh;
    std::string serverPath; ///< of the native server; empty: beside this program
};

/// One board and the connection to it. Not thread-safe: one job at a time.
class Deployer
{
public:
    Deployer(Board board, DeployEnvironment environment);
    Deployer(const Deployer&) = delete;
    Deployer& operator=(const Deployer&) = delete;
    ~Deployer(); ///< close()s within the clean-up limit

    /// Always returns a finished report; its error says what went wrong, and in which step.
    DeployReportPtr deploy(const DeployRequest& request, core::JobContext& job,
                           const DeployObserver& observer = {});
    /// Connects when needed and says what the board is. Errors as of SshSession::connect.
    core::Result<BoardFacts> probe(const PhaseLimits& limits, core::JobContext& job);
    /// What the board's server measures of its machine, as text; probe() comes first.
    core::Result<std::string> measure(const PhaseLimits& limits, core::JobContext& job);
    /// Ends the server, removes what was sent unless it is kept, hangs up.
    core::Status close(std::chrono::milliseconds timeout = PhaseLimits().cleanUp);
    bool isConnected() const { return m_link != nullptr; }

private:
    friend class DeployRun;
    Board m_board;
    DeployEnvironment m_environment;
    std::shared_ptr<BoardLink> m_link;
    bool m_keepsFiles = false;
};

} // namespace tenon::remote
