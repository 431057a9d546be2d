// SPDX-License-Identifier: Apache-2.0
// One deployment, step by step.
#include "remote/deploy/deploy_run.h"

#include "compiler/driver/target_cores.h"
#include "core/base/board_code.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "remote/deploy/preflight.h"

#include <algorithm>
#include <csignal>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using Clock = std::chrono::steady_clock;

namespace {

std::string bytes(int64_t count) { return core::bytesText(static_cast<uint64_t>(count)); }

} // namespace

DeployRun::DeployRun(Deployer& deployer, const DeployRequest& request, core::JobContext& job,
                     const DeployObserver& observer)
    : m_deployer(deployer)
    , m_request(request)
    , m_job(job)
    , m_observer(observer)
    , m_start(Clock::now())
{
    m_report.board = deployer.m_board;
    for (size_t i = 0; i < kDeployPhaseCount; ++i)
        m_report.steps.push_back({.phase = static_cast<DeployPhase>(i)});
}

DeployStep& DeployRun::stepOf(DeployPhase phase)
{
    return m_report.steps[static_cast<size_t>(phase)];
}

void DeployRun::publish()
{
    m_report.totalMs = core::millisecondsSince(m_start);
    if (m_observer) m_observer(std::make_shared<const DeployReport>(m_report));
}

void DeployRun::step(DeployPhase phase, const Body& body, bool applies)
{
    DeployStep& step = stepOf(phase);
    if (!applies || m_report.error) {
        step.state = StepState::Skipped;
        return;
    }
    step.state = StepState::Running;
    publish();
    const Clock::time_point start = Clock::now();
    m_elsewhereMs = 0;
    Status done = m_job.checkStop();
    if (done) done = body(step.detail);
    step.ms = std::max(core::millisecondsSince(start), m_elsewhereMs);
    step.state = done ? StepState::Done : StepState::Failed;
    if (!done) {
        m_report.error = inPhase(done.error(), phase, m_report.board.name);
        step.detail = m_report.error->message;
    }
    log(std::string(phaseText(phase)) + ": " + step.detail);
    publish();
}

DeployReportPtr DeployRun::run()
{
    const auto bound = [this](Status (DeployRun::*method)(std::string&)) {
        return [this, method](std::string& detail) { return (this->*method)(detail); };
    };
    aim(m_deployer.m_board.threads);
    const bool knowsTarget = knowsEnough();
    startArrival();
    if (knowsTarget) step(DeployPhase::Compile, bound(&DeployRun::compile));
    step(DeployPhase::Connect, bound(&DeployRun::connect));
    step(DeployPhase::Probe, bound(&DeployRun::probe));
    if (!knowsTarget) step(DeployPhase::Compile, bound(&DeployRun::compile));
    step(DeployPhase::Preflight, bound(&DeployRun::check), !m_request.skipsPreflight);
    step(DeployPhase::Upload, bound(&DeployRun::upload));
    step(DeployPhase::Load, bound(&DeployRun::load));
    const bool runs = static_cast<bool>(m_request.inputs);
    step(DeployPhase::Run, bound(&DeployRun::execute), runs);
    step(DeployPhase::Benchmark, bound(&DeployRun::benchmark), m_request.timing.has_value());
    step(DeployPhase::Fetch, bound(&DeployRun::fetch), runs);
    m_session.reset();
    cleanUp();
    m_report.isFinished = true;
    publish();
    return std::make_shared<const DeployReport>(std::move(m_report));
}

/// Takes what is asked for, or the board's own target; a target that says nothing of cores gets
/// those of the board.
void DeployRun::aim(unsigned cores)
{
    const Board& board = m_deployer.m_board;
    if (m_report.target.empty())
        m_report.target = m_request.target.empty() ? board.target : m_request.target;
    if (board.kind != BoardKind::ThisComputer)
        m_report.target = compiler::withCores(m_report.target, cores);
}

/// False when the board must be asked before anything can be compiled for it.
bool DeployRun::knowsEnough() const
{
    if (m_report.target.empty()) return false;
    if (m_request.threads > 0 || m_deployer.m_board.kind == BoardKind::ThisComputer) return true;
    const auto target = core::parseTarget(m_report.target);
    return !target || !compiler::lacksCores(*target);
}

/// With how many threads it runs; what the system gives is added once the server is asked.
core::ThreadChoice DeployRun::threads() const
{
    const std::string& built = m_model.manifest.target;
    const auto target = core::parseTarget(built.empty() ? m_report.target : built);
    const Board& board = m_deployer.m_board;
    const unsigned found = m_report.facts.usableCores();
    core::KnownCores known{.asked = m_request.threads, .artifact = m_model.manifest.threads};
    const bool isHere = board.kind == BoardKind::ThisComputer;
    (isHere ? known.thisComputer : known.board) = found > 0 ? found : board.threads;
    known.hasThreads = !target || compiler::hasThreads(*target);
    if (found == 0 && board.summary.empty()) known.boardSource = core::ThreadSource::Profile;
    return core::chooseThreads(target ? *target : core::Target(), known);
}

void DeployRun::startArrival()
{
    // What stays on the board is settled when the connection is made.
    if (m_deployer.m_keepsFiles != m_request.keepsFiles) {
        const Status closed = m_deployer.close(limit(DeployPhase::CleanUp));
        if (!closed) log("closing the connection before: " + closed.error().message);
    }
    if (m_deployer.m_link) return;
    m_deployer.m_keepsFiles = m_request.keepsFiles;
    m_arrival = std::make_unique<Arrival>(LinkRequest{.board = m_deployer.m_board,
                                                      .environment = m_deployer.m_environment,
                                                      .keepsFiles = m_request.keepsFiles,
                                                      .timeout = limit(DeployPhase::Connect),
                                                      .queueTimeout = m_request.limits.queue},
                                          m_request.limits);
}

BoardLink* DeployRun::link()
{
    if (m_arrival) m_deployer.m_link = m_arrival->takeLink(m_job);
    m_arrival.reset();
    return m_deployer.m_link.get();
}

Status DeployRun::compile(std::string& detail)
{
    if (m_report.target.empty()) {
        const Result<std::string> proposed = proposedTarget(m_report.facts);
        if (!proposed) return proposed.error();
        m_report.target = *proposed;
    }
    aim(m_report.facts.usableCores());
    Result<BuiltModel> model = m_request.build(m_report.target, m_job);
    if (!model) return model.error();
    m_model = std::move(*model);
    m_report.manifest = m_model.manifest;
    detail = "for " + m_report.target;
    return core::kDone;
}

Status DeployRun::connect(std::string& detail)
{
    if (!m_arrival) {
        detail = "still connected";
        return core::kDone;
    }
    const Status connected = m_arrival->connected(m_job);
    m_elsewhereMs = m_arrival->connectMs();
    detail = m_deployer.m_board.address();
    return connected;
}

Status DeployRun::probe(std::string& detail)
{
    const Result<BoardFacts> facts =
        m_arrival ? m_arrival->facts(m_job) : link()->probe(limit(DeployPhase::Probe), m_job);
    if (m_arrival) m_elsewhereMs = m_arrival->probeMs();
    if (!facts) return facts.error();
    m_report.facts = *facts;
    m_report.checks = probeChecklist(*facts);
    detail = summaryLine(*facts);
    return core::kDone;
}

Status DeployRun::check(std::string& detail)
{
    Preflight result = preflight(m_model, m_report.facts);
    m_report.checks.insert(m_report.checks.end(), result.checks.begin(), result.checks.end());
    if (result.error) return *result.error;
    detail = std::to_string(result.checks.size()) + " checks passed";
    return core::kDone;
}

Status DeployRun::upload(std::string& detail)
{
    const Result<UploadedFile> sent =
        link()->upload(m_model.path, limit(DeployPhase::Upload), m_job);
    if (!sent) return sent.error();
    m_runRequest.loadName = sent->loadName;
    m_report.sha256 = sent->sha256;
    m_report.sentBytes = sent->sentBytes;
    m_report.reusedBytes = sent->reusedBytes;
    detail = bytes(sent->sentBytes) + " sent, " + bytes(sent->reusedBytes) + " were there";
    log("artifact SHA-256 " + sent->sha256);
    return core::kDone;
}

Status DeployRun::load(std::string& detail)
{
    m_report.threads = threads();
    m_runRequest.artifactPath = m_model.path;
    m_runRequest.threads = m_report.threads.count;
    m_runRequest.mayExceedProcessors = m_report.threads.isAsked();
    m_runRequest.timeout = limit(DeployPhase::Load);
    if (m_request.inputs) {
        Result<NamedTensors> inputs = m_request.inputs(m_model.manifest);
        if (!inputs) return inputs.error();
        m_runRequest.inputs = std::move(*inputs);
    }
    Result<std::unique_ptr<LocalSession>> session =
        link()->load(m_runRequest, limit(DeployPhase::Load), m_job);
    if (!session) return session.error();
    m_session = std::move(*session);
    m_report.threads.usable = m_session->usableProcessors();
    detail = m_report.threads.text();
    if (m_report.threads.isShort())
        m_report.checks.push_back(
            {Verdict::Doubtful, "threads", detail,
             "compile with -num-cores=" + std::to_string(m_report.threads.usable)});
    if (const std::string confinement = link()->confinement(); !confinement.empty())
        detail += ", " + confinement;
    if (Status set = m_session->setInputs(m_runRequest.inputs, m_job); !set) return set;
    m_session->setTimeout(limit(DeployPhase::Run));
    return core::kDone;
}

/// A crash is looked into once more, to name the kernel and the model's nodes.
core::Diagnostic DeployRun::explained(const core::Diagnostic& error)
{
    core::Diagnostic out = locateCrash(
        error, *m_session, m_runRequest,
        [&] { return link()->load(m_runRequest, limit(DeployPhase::Load), m_job); }, m_job);
    if (m_model.lifetime) out.location.file.clear(); // a file of ours that nobody knows
    if (out.crashSignal == SIGILL)
        out.message += "; the processor lacks an instruction, " +
                       std::string(m_report.facts.cpuText.empty() ? "compile" : "this is a ") +
                       m_report.facts.cpuText +
                       (m_report.facts.cpuText.empty() ? "" : ": compile") +
                       " for the board's own target";
    return out;
}

Status DeployRun::execute(std::string& detail)
{
    const Status ran = m_session->execute(m_job);
    if (!ran) return explained(ran.error());
    detail = "one inference";
    return core::kDone;
}

Status DeployRun::benchmark(std::string& detail)
{
    TimingRequest wanted = *m_request.timing;
    wanted.watch = [&, watch = wanted.watch](const SamplingState& state) {
        detail = samplingText(state);
        m_report.sampling = state;
        publish();
        if (watch) watch(state);
    };
    Result<Timing> timing = m_session->measure(wanted, m_job);
    if (!timing) return explained(timing.error());
    m_report.timing = std::move(*timing);
    if (std::string& settings = m_report.timing->hygiene.settings; settings.empty())
        settings = m_report.facts.settings;
    const Summary& summary = m_report.timing->summaryMs;
    detail = medianText(summary) + " of " + std::to_string(summary.samples) +
             (summary.samples == 1 ? " sample; " : " samples; ") + m_report.timing->ending;
    if (m_report.board.isEmulated() && !summary.areInstructions)
        detail += ", emulated: not a time of silicon";
    return core::kDone;
}

Status DeployRun::fetch(std::string& detail)
{
    Result<std::vector<core::Tensor>> outputs = m_session->fetchOutputs(m_job);
    if (!outputs) return explained(outputs.error());
    m_report.outputs = std::move(*outputs);
    const size_t count = m_report.outputs.size();
    detail = std::to_string(count) + (count == 1 ? " output" : " outputs");
    return core::kDone;
}

/// What is said when nobody knows what is left on the board. The report's error says it, too.
std::string DeployRun::uncertainty(const Status& closed, const BoardLink& link)
{
    const std::string rest = link.leftovers(LinkEnd::Lost);
    if (closed || m_report.error) {
        const bool isLost = closed || closed.error().code == core::BoardCode::LinkLost;
        const std::string out =
            (isLost ? "the board could not be reached" : closed.error().message) + "; " + rest;
        m_report.error->notes.push_back({.severity = core::Severity::Note,
                                         .code = m_report.error->code,
                                         .message = "not cleaned up: " + out});
        return out;
    }
    m_report.error = inPhase(closed.error(), DeployPhase::CleanUp, m_report.board.name);
    m_report.error->message += "; " + rest;
    return m_report.error->message;
}

/// Also after an error or a cancel, then without the job's stop request.
void DeployRun::cleanUp()
{
    DeployStep& step = stepOf(DeployPhase::CleanUp);
    if (m_arrival) m_arrival->stop();
    if (!link() || (m_request.staysConnected && !m_report.error)) {
        step.state = StepState::Skipped;
        return;
    }
    step.state = StepState::Running;
    publish();
    const Clock::time_point start = Clock::now();
    const std::shared_ptr<BoardLink> link = m_deployer.m_link;
    const Status done = m_deployer.close(limit(DeployPhase::CleanUp));
    step.ms = core::millisecondsSince(start);
    const bool isLost = m_report.error && m_report.error->code == core::BoardCode::LinkLost;
    const bool isKnown = done && (!isLost || link->isCloseConfirmed());
    step.state = isKnown ? StepState::Done : StepState::Failed;
    step.detail = isKnown ? link->leftovers(LinkEnd::Orderly) : uncertainty(done, *link);
    log("clean up: " + step.detail);
}

} // namespace tenon::remote
