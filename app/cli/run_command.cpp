// SPDX-License-Identifier: Apache-2.0
// tenon run: one inference in a child process or on a board.
#include "app/cli/board_access.h"
#include "app/cli/run_report.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

namespace tenon::cli {
namespace {

struct RunOptions
{
    CommonOptions common;
    std::string path;
    std::vector<std::string> inputs;
    std::string outputs;
    BoardOptions where;
    int64_t top = 0;
    int timeoutS = 300;
};

OutputsReport reportOf(const RunOptions& options)
{
    return {.folder = options.outputs, .top = options.top, .isJson = options.common.json};
}

int runElsewhere(const RunOptions& options, JobContext& job)
{
    const BoardJob work{.where = options.where,
                        .common = options.common,
                        .inputs = options.inputs,
                        .timeoutS = options.timeoutS};
    int code = kSuccess;
    const remote::DeployReportPtr report = deployOnce(work, options.path, job, code);
    if (!report) return code;
    const std::string place = "on board " + core::quoted(report->board.name);
    return tellOutputs(report->manifest, report->outputs, {place, report->sha256},
                       reportOf(options));
}

int run(const RunOptions& options, JobContext& job)
{
    if (options.where.isElsewhere()) return runElsewhere(options, job);
    auto runnable = openRunnable(options.path, options.common, sourceOf(options.inputs), job);
    if (!runnable) return failure(runnable.error());
    const Manifest& manifest = runnable->manifest;
    auto request = runRequest(*runnable, options.common, std::chrono::seconds(options.timeoutS));
    if (!request) return failure(request.error());
    if (options.inputs.empty()) {
        auto inputs = remote::madeUpInputs(manifest);
        if (!inputs) return failure(inputs.error());
        request->inputs = std::move(*inputs);
        printDiagnostic(Diagnostic{Severity::Note,
                                   DiagnosticCode::BadArgument,
                                   "no --inputs were given; the inputs are made up",
                                   {},
                                   {}});
    } else {
        auto given = readTensors(options.inputs);
        if (!given) return failure(given.error());
        auto inputs = assignInputs(manifest.inputs, *given);
        if (!inputs) return failure(inputs.error());
        request->inputs = std::move(*inputs);
    }
    auto outputs = remote::runArtifact(*request, job);
    if (!outputs) return failure(outputs.error());

    if (!options.common.json && !request->emulator.empty()) print(placeOf(*request) + "\n");
    const auto digest = runnable->sha256();
    if (!digest) return failure(digest.error());
    return tellOutputs(manifest, *outputs, {placeOf(*request), *digest}, reportOf(options));
}

} // namespace

void addRun(CLI::App& app, Action& action)
{
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "one inference of a model or artifact");
    command->add_option("MODEL|ARTIFACT", options->path, "model, or a .so that compile wrote")
        ->required();
    addCompileOptions(*command, options->common);
    command->add_option("--inputs", options->inputs, "folder or files: .pb, .npy, .npz");
    command->add_option("--outputs", options->outputs, "folder for output_N.pb and output_N.npy");
    addBoardOptions(*command, options->where);
    command->add_option("--print-top", options->top, "print the K largest elements of each output");
    command->add_option("--timeout", options->timeoutS, "seconds for each step")
        ->capture_default_str();
    command->callback([options, &action] {
        action = [options](JobContext& job) {
            const Status chosen = chooseVirtualBoard(options->where, job);
            return chosen ? run(*options, job) : failure(chosen.error());
        };
    });
}

} // namespace tenon::cli
