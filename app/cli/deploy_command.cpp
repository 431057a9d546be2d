// SPDX-License-Identifier: Apache-2.0
// tenon deploy: compile for a board, push, load, run, benchmark, clean up.
#include "app/cli/bench_report.h"
#include "app/cli/board_access.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct DeployOptions
{
    CommonOptions common;
    BoardOptions where;
    std::vector<std::string> models;
    std::vector<std::string> inputs;
    remote::TimingRequest timing{.perCall = true};
    SamplingOptions sampling;
    int timeoutS = 300;
    bool skipsBenchmark = false;
};

Json reportJson(const remote::DeployReport& report)
{
    Json out{{"board", report.board.name},
             {"emulated", report.board.isEmulated()},
             {"target", report.target},
             {"threads", report.threads.running()},
             {"threads_from", report.threads.text()},
             {"sha256", report.sha256},
             {"steps", stepsJson(report)},
             {"checks", checksJson(report.checks)},
             {"sent_bytes", report.sentBytes},
             {"reused_bytes", report.reusedBytes},
             {"overhead_ms", report.overheadMs()},
             {"total_ms", report.totalMs}};
    if (report.timing)
        out["bench"] = benchJson(report.board, report.manifest, *report.timing, report.sha256);
    if (report.error) out["error"] = diagnosticJson(*report.error);
    return out;
}

std::string reportText(const remote::DeployReport& report)
{
    std::string out = "overhead  " + fixed(report.overheadMs(), 1) +
                      " ms beyond compiling, running and measuring\n";
    for (const remote::Check& check : report.checks)
        if (check.verdict == remote::Verdict::Doubtful && !check.advice.empty())
            out += "note: " + check.subject + ": " + check.outcome + "; " + check.advice + "\n";
    if (report.timing) out += benchText(report.board, report.manifest, *report.timing);
    return out;
}

/// All models over one connection; the first failure ends it.
int deploy(const DeployOptions& options, JobContext& job)
{
    const auto board = chosenBoard(options.where);
    if (!board) return failure(board.error());
    BoardJob work{.where = options.where,
                  .common = options.common,
                  .inputs = options.inputs,
                  .timeoutS = options.timeoutS};
    work.boardProject = board->project;
    if (!options.skipsBenchmark) {
        work.timing = options.timing;
        applySampling(options.sampling, *work.timing);
    }
    TerminalPrompt prompt;
    remote::Deployer deployer(*board, deployEnvironment(options.where, prompt));
    Json all = Json::array();
    int code = kSuccess;
    for (size_t i = 0; i < options.models.size() && code == kSuccess; ++i) {
        work.staysConnected = i + 1 < options.models.size();
        const remote::DeployReportPtr report =
            deployOnBoard(deployer, work, options.models[i], job);
        if (report->error) code = failure(*report->error);
        all.push_back(reportJson(*report));
        if (!options.common.json && !report->error) print(reportText(*report));
        remember(boardStore(options.where.config), *report, options.common.optLevel);
    }
    if (options.common.json) printJson(all.size() == 1 ? all[0] : Json{{"deployments", all}});
    return code;
}

} // namespace

void addDeploy(CLI::App& app, Action& action)
{
    auto options = std::make_shared<DeployOptions>();
    CLI::App* command = app.add_subcommand("deploy", "compile for a board, run and measure there");
    command
        ->add_option("MODEL|ARTIFACT", options->models,
                     "models or compiled .so files; several use one connection")
        ->required();
    addCompileOptions(*command, options->common);
    addBoardOptions(*command, options->where);
    command->add_option("--inputs", options->inputs, "folder or files; default: made up");
    addTimingOptions(*command, options->timing, options->sampling);
    command->add_flag("--no-bench", options->skipsBenchmark, "run once and do not measure");
    command->add_option("--timeout", options->timeoutS, "seconds for a run or a measurement")
        ->capture_default_str();
    command->callback([options, &action] {
        action = [options](JobContext& job) {
            const Status chosen = chooseVirtualBoard(options->where, job);
            return chosen ? deploy(*options, job) : failure(chosen.error());
        };
    });
}

} // namespace tenon::cli
