// SPDX-License-Identifier: Apache-2.0
// Reaching boards and deploying to them from commands.
#include "app/cli/board_access.h"

#include "app/cli/number_checks.h"
#include "app/runs/read_inputs.h"
#include "compiler/driver/target_features.h"
#include "core/base/text.h"
#include "remote/board/profile.h"
#include "remote/deploy/deploy_record.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/virtual/virtual_board.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace tenon::cli {
namespace {

using remote::Check;
using remote::DeployReport;
using remote::DeployStep;
using remote::StepState;
using remote::Verdict;

const char* stateText(StepState state)
{
    switch (state) {
    case StepState::Waiting: return "waiting";
    case StepState::Running: return "running";
    case StepState::Done: return "done";
    case StepState::Skipped: return "skipped";
    case StepState::Failed: return "failed";
    }
    return "";
}

const char* verdictText(Verdict verdict)
{
    if (verdict == Verdict::Good) return "good";
    return verdict == Verdict::Doubtful ? "doubtful" : "bad";
}

Result<remote::BuiltModel> build(const BoardJob& work, const std::string& path,
                                 const std::string& target, JobContext& job)
{
    CommonOptions options = work.common;
    options.target = target;
    auto runnable =
        openRunnable(path, options, work.given ? InputSource::Given : sourceOf(work.inputs), job,
                     work.boardProject);
    if (!runnable) return runnable.error();
    return builtModel(*runnable);
}

/// Prints each step once, when it has ended.
remote::DeployObserver stepPrinter()
{
    const auto printed = std::make_shared<std::vector<bool>>(remote::kDeployPhaseCount, false);
    return [printed](const remote::DeployReportPtr& report) {
        for (size_t i = 0; i < report->steps.size(); ++i) {
            const DeployStep& step = report->steps[i];
            const bool hasEnded = step.state == StepState::Done || step.state == StepState::Failed;
            if (!hasEnded || (*printed)[i]) continue;
            (*printed)[i] = true;
            std::string name(remote::phaseText(step.phase));
            name.resize(10, ' ');
            const std::string time = fixed(step.ms, 1);
            print(name + std::string(time.size() < 9 ? 9 - time.size() : 0, ' ') + time + " ms  " +
                  (step.state == StepState::Failed ? "failed" : step.detail) + "\n");
            std::fflush(stdout);
        }
    };
}

} // namespace

void addConfigOptions(CLI::App& command, BoardOptions& options)
{
    command.add_option("--config", options.config,
                       "folder of boards, host keys and history; default: the user's");
    command.add_option("--accept-host-key", options.acceptedFingerprint,
                       "trust a new host key of exactly this fingerprint (SHA256:...)");
}

void addBoardOptions(CLI::App& command, BoardOptions& options)
{
    command.add_option("--board", options.board, "where to run; default: this computer");
    command
        .add_option("--virtual", options.virtualProfile,
                    "an emulated board of this profile, made first where there is none: rpi4")
        ->excludes("--board");
    command.add_flag("--keep", options.keepsFiles, "leave what was sent on the board");
    command.add_flag("--no-preflight", options.skipsPreflight,
                     "do not check first whether the model can run there");
    addQueueOption(command, options);
    addConfigOptions(command, options);
}

void addQueueOption(CLI::App& command, BoardOptions& options)
{
    command
        .add_option("--queue-timeout", options.queueTimeoutS,
                    "seconds to wait in a tracker's queue for a free board")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
}

void addTimingOptions(CLI::App& command, remote::TimingRequest& timing, SamplingOptions& sampling)
{
    command.add_option("--number", timing.number, "runs per sample")
        ->check(kPositive)
        ->capture_default_str();
    command
        .add_option("--repeat", sampling.repeat,
                    "samples; default: until the precision or the budget is reached")
        ->check(CLI::Range(1, 1000000));
    command
        .add_option("--time-budget", sampling.budgetS,
                    "seconds that measuring may take; default: 10")
        ->check(CLI::Range(0.001, 1e6));
    command
        .add_option("--precision", sampling.precisionPercent,
                    "percent of the median that its 95 % confidence interval (the ±) may reach to "
                    "each side; default: 2")
        ->check(CLI::Range(0.001, 100.0));
}

void applySampling(const SamplingOptions& sampling, remote::TimingRequest& timing)
{
    const remote::SamplingLimits usual = remote::kUsualSampling;
    const bool isCounted = sampling.repeat > 0;
    timing.repeat = isCounted ? sampling.repeat : usual.samples;
    timing.budgetS = sampling.budgetS > 0 ? sampling.budgetS : (isCounted ? 0 : usual.budgetS);
    timing.precision = sampling.precisionPercent > 0 ? sampling.precisionPercent / 100
                       : isCounted                   ? 0
                                                     : usual.precision;
}

Status chooseVirtualBoard(BoardOptions& options, JobContext& job)
{
    if (options.virtualProfile.empty()) return kDone;
    const auto profile = remote::findProfile(options.virtualProfile);
    if (!profile) return profile.error();
    options.board = profile->name;
    const remote::BoardStore store = boardStore(options.config);
    if (const auto known = store.find(profile->name)) {
        if (known->isEmulated()) return kDone;
        return makeError(DiagnosticCode::BadArgument,
                         "the board " + core::quoted(known->name) +
                             " is no emulated one; give another name to one of `tenon board add "
                             "--virtual` and use --board");
    }
    job.progress(0.05, "making an emulated " + profile->title);
    const auto made = remote::makeVirtualBoard(profile->name, *profile,
                                               store.folder() + "/virtual/" + profile->name, job);
    if (!made) return made.error();
    const auto kept = store.add(*made);
    return kept ? Status(kDone) : Status(kept.error());
}

remote::DeployEnvironment deployEnvironment(const BoardOptions& options, remote::SshPrompt& prompt)
{
    const remote::BoardStore store = boardStore(options.config);
    return {.ssh = {.knownHostsFile = store.knownHostsPath(),
                    .acceptedFingerprint = options.acceptedFingerprint,
                    .prompt = &prompt}};
}

Result<remote::Board> chosenBoard(const BoardOptions& options)
{
    const remote::BoardStore store = boardStore(options.config);
    return store.find(options.board.empty() ? std::string(remote::kThisComputer) : options.board);
}

remote::BuiltModel builtModel(const Runnable& runnable)
{
    auto features = compiler::targetFeatures(runnable.manifest.target);
    return {.path = runnable.path,
            .manifest = runnable.manifest,
            .features = features ? std::move(*features) : std::vector<std::string>{},
            .lifetime = runnable.folder};
}

remote::DeployReportPtr deployOnBoard(remote::Deployer& deployer, const BoardJob& work,
                                      const std::string& path, JobContext& job)
{
    remote::DeployRequest request;
    request.build = [&](const std::string& target, JobContext& buildJob) {
        return build(work, path, target, buildJob);
    };
    request.inputs = [&](const Manifest& manifest) -> Result<remote::NamedTensors> {
        if (work.given) return work.given(manifest);
        if (work.inputs.empty()) return remote::madeUpInputs(manifest);
        return runs::readInputs(manifest.inputs, work.inputs);
    };
    if (work.common.target != CommonOptions().target) request.target = work.common.target;
    request.timing = work.timing;
    request.threads = work.common.threads;
    request.keepsFiles = work.where.keepsFiles;
    request.skipsPreflight = work.where.skipsPreflight;
    request.staysConnected = work.staysConnected;
    request.limits.run = std::chrono::seconds(work.timeoutS);
    request.limits.queue = std::chrono::seconds(work.where.queueTimeoutS);
    return deployer.deploy(request, job,
                           work.common.json ? remote::DeployObserver() : stepPrinter());
}

remote::DeployReportPtr deployOnce(const BoardJob& work, const std::string& path, JobContext& job,
                                   int& exitCode)
{
    const auto board = chosenBoard(work.where);
    if (!board) {
        exitCode = failure(board.error());
        return nullptr;
    }
    TerminalPrompt prompt;
    remote::Deployer deployer(*board, deployEnvironment(work.where, prompt));
    BoardJob aimed = work;
    aimed.boardProject = board->project;
    remote::DeployReportPtr report = deployOnBoard(deployer, aimed, path, job);
    exitCode = report->error ? failure(*report->error) : kSuccess;
    return report->error ? nullptr : report;
}

Json stepsJson(const DeployReport& report)
{
    Json out = Json::array();
    for (const DeployStep& step : report.steps)
        out.push_back({{"step", remote::phaseText(step.phase)},
                       {"state", stateText(step.state)},
                       {"ms", step.ms},
                       {"detail", step.detail}});
    return out;
}

Json checksJson(const std::vector<Check>& checks)
{
    Json out = Json::array();
    for (const Check& check : checks)
        out.push_back({{"subject", check.subject},
                       {"verdict", verdictText(check.verdict)},
                       {"outcome", check.outcome},
                       {"advice", check.advice}});
    return out;
}

Json boardJson(const remote::Board& board)
{
    return {{"name", board.name},
            {"kind", remote::boardKindText(board.kind)},
            {"address", board.address()},
            {"key", board.key},
            {"target", board.target},
            {"profile", board.profile},
            {"emulated", board.isEmulated()},
            {"threads", board.threads},
            {"summary", board.summary}};
}

std::string checksText(const std::vector<Check>& checks)
{
    std::vector<std::vector<std::string>> rows;
    for (const Check& check : checks) {
        const char* mark = check.verdict == Verdict::Good       ? "ok"
                           : check.verdict == Verdict::Doubtful ? "?"
                                                                : "no";
        rows.push_back({mark, check.subject,
                        " " + check.outcome + (check.advice.empty() ? "" : "; " + check.advice)});
    }
    return table(rows);
}

remote::BoardStore boardStore(const std::string& folder)
{
    return remote::BoardStore(folder, printDiagnostic);
}

void remember(const remote::BoardStore& store, const DeployReport& report, int optLevel)
{
    const std::optional<Diagnostic> warning =
        remote::keepInHistory(store.historyPath(), report, optLevel, TENON_VERSION);
    if (warning) printDiagnostic(*warning);
}

} // namespace tenon::cli
