// SPDX-License-Identifier: Apache-2.0
// tenon run: one inference in a child process or on a board.
#include "app/cli/board_access.h"
#include "app/cli/run_report.h"
#include "app/runs/read_inputs.h"
#include "app/runs/samples/ranking.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct RunOptions
{
    CommonOptions common;
    std::string path;
    std::vector<std::string> inputs;
    runs::SampleFiles samples;
    std::string labels;
    std::string outputs;
    std::string kept; ///< folder for what the model was given
    BoardOptions where;
    int64_t top = 0;
    int timeoutS = 300;
};

constexpr int64_t kUsualTop = 5; ///< classes of a picture or sound

Result<OutputsReport> reportOf(const RunOptions& options)
{
    OutputsReport report{
        .folder = options.outputs, .top = options.top, .isJson = options.common.json};
    report.ranks = !options.samples.isEmpty() || !options.labels.empty();
    if (report.ranks && report.top <= 0) report.top = kUsualTop;
    if (options.labels.empty()) return report;
    auto labels = runs::readLabels(options.labels);
    if (!labels) return labels.error();
    report.labels = std::move(*labels);
    return report;
}

/// What is given to the model; how pictures and sounds became tensors goes to `report`.
Result<remote::NamedTensors> inputsOf(const RunOptions& options, const Manifest& manifest,
                                      OutputsReport& report)
{
    if (options.samples.isEmpty()) return runs::readInputs(manifest.inputs, options.inputs);
    auto given = readTensors(options.inputs);
    if (!given) return given.error();
    auto samples = runs::sampleTensors(manifest.inputs, options.samples);
    if (!samples) return samples.error();
    for (auto& tensor : samples->tensors) given->push_back(std::move(tensor));
    report.more["preprocessing"] = samples->shown;
    for (const std::string& line : samples->made)
        if (!options.common.json) print(line + "\n");
    return assignInputs(manifest.inputs, *given);
}

bool hasData(const RunOptions& options)
{
    return !options.inputs.empty() || !options.samples.isEmpty();
}

/// What the model is to be given, written where that was asked for.
Result<remote::NamedTensors> keptInputs(const RunOptions& options, const Manifest& manifest,
                                        OutputsReport& report)
{
    auto inputs =
        hasData(options) ? inputsOf(options, manifest, report) : remote::madeUpInputs(manifest);
    if (inputs)
        for (const Diagnostic& note : runs::notesOnValues(*inputs)) printDiagnostic(note);
    if (!inputs || options.kept.empty()) return inputs;
    if (const Status kept = writeTensors(options.kept, "input_", {".pb"}, *inputs); !kept)
        return kept.error();
    return inputs;
}

int runElsewhere(const RunOptions& options, OutputsReport outputs, JobContext& job)
{
    BoardJob work{.where = options.where, .common = options.common, .timeoutS = options.timeoutS};
    if (hasData(options) || !options.kept.empty())
        work.given = [&](const Manifest& manifest) {
            return keptInputs(options, manifest, outputs);
        };
    int code = kSuccess;
    const remote::DeployReportPtr report = deployOnce(work, options.path, job, code);
    if (!report) return code;
    const std::string place = "on board " + core::quoted(report->board.name);
    return tellOutputs(report->manifest, report->outputs, {place, report->sha256}, outputs);
}

int run(const RunOptions& options, JobContext& job)
{
    auto report = reportOf(options);
    if (!report) return failure(report.error());
    if (options.where.isElsewhere()) return runElsewhere(options, std::move(*report), job);
    auto runnable = openRunnable(options.path, options.common,
                                 hasData(options) ? InputSource::Given : InputSource::MadeUp, job);
    if (!runnable) return failure(runnable.error());
    const Manifest& manifest = runnable->manifest;
    auto request = runRequest(*runnable, options.common, std::chrono::seconds(options.timeoutS));
    if (!request) return failure(request.error());
    if (!hasData(options))
        printDiagnostic(Diagnostic{Severity::Note,
                                   DiagnosticCode::BadArgument,
                                   "no --inputs were given; the inputs are made up",
                                   {},
                                   {}});
    auto inputs = keptInputs(options, manifest, *report);
    if (!inputs) return failure(inputs.error());
    request->inputs = std::move(*inputs);
    auto outputs = remote::runArtifact(*request, job);
    if (!outputs) return failure(outputs.error());

    if (!options.common.json && !request->emulator.empty()) print(placeOf(*request) + "\n");
    const auto digest = runnable->sha256();
    if (!digest) return failure(digest.error());
    return tellOutputs(manifest, *outputs, {placeOf(*request), *digest}, *report);
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
    command->add_option("--image", options->samples.pictures,
                        "PNG or JPEG picture as the input; several for a batch");
    command->add_option("--audio", options->samples.sounds, "WAV sound as the input");
    command->add_option("--preprocess", options->samples.preprocessing,
                        "how pictures and sounds become numbers: " + runs::preprocessingKeys() +
                            "; or imagenet, unit, signed, raw; default: as the input asks for");
    command->add_option("--labels", options->labels, "file with the name of a class in each line");
    command->add_option("--outputs", options->outputs, "folder for output_N.pb and output_N.npy");
    command->add_option("--keep-inputs", options->kept,
                        "folder for input_N.pb: a data set of what the model was given");
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
