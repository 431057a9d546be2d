// SPDX-License-Identifier: Apache-2.0
// tenon run: one inference in a child process or on a board.
#include "app/cli/board_access.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

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

struct Statistics
{
    double least = 0;
    double most = 0;
    double mean = 0;
};

Statistics statisticsOf(const Tensor& tensor)
{
    Statistics out;
    const std::vector<double> values = tensor.numbers();
    if (values.empty()) return out;
    out.least = *std::min_element(values.begin(), values.end());
    out.most = *std::max_element(values.begin(), values.end());
    out.mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    return out;
}

std::vector<int64_t> topIndices(const Tensor& tensor, int64_t count)
{
    const std::vector<double> values = tensor.numbers();
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::min<int64_t>(count, static_cast<int64_t>(order.size()));
    std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
        const double x = values[static_cast<size_t>(a)];
        const double y = values[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    });
    return {order.begin(), end};
}

Json outputJson(const ManifestTensor& spec, const Tensor& value, const RunOptions& options)
{
    const Statistics statistics = statisticsOf(value);
    Json out{{"name", spec.name},       {"dtype", spec.dtype},    {"shape", value.shape()},
             {"min", statistics.least}, {"max", statistics.most}, {"mean", statistics.mean}};
    for (const int64_t index :
         options.top > 0 ? topIndices(value, options.top) : std::vector<int64_t>{})
        out["top"].push_back({{"index", index}, {"value", value.number(index)}});
    return out;
}

std::string outputText(const ManifestTensor& spec, const Tensor& value, const RunOptions& options)
{
    const Statistics statistics = statisticsOf(value);
    std::string out = elided(spec.name) + " " + value.typeText() + "  min " +
                      exact(statistics.least) + "  max " + exact(statistics.most) + "  mean " +
                      exact(statistics.mean) + "\n";
    if (options.top <= 0) return out;
    for (const int64_t index : topIndices(value, options.top))
        out += "  " + std::to_string(index) + "  " + exact(value.number(index)) + "\n";
    return out;
}

Status writeOutputs(const std::vector<ManifestTensor>& specs, const std::vector<Tensor>& values,
                    const std::string& folder)
{
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return makeError(DiagnosticCode::IoFailure, "cannot create the folder", {.file = folder});
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string base = folder + "/output_" + std::to_string(i);
        for (const char* suffix : {".pb", ".npy"})
            if (Status s = compiler::writeTensorFile(base + suffix, values[i], specs[i].name); !s)
                return s;
    }
    return kDone;
}

/// Where which artifact ran.
struct Place
{
    std::string name;
    std::string sha256;
};

int tell(const RunOptions& options, const Manifest& manifest, const std::vector<Tensor>& outputs,
         const Place& place)
{
    Json list = Json::array();
    for (size_t i = 0; i < outputs.size() && i < manifest.outputs.size(); ++i) {
        list.push_back(outputJson(manifest.outputs[i], outputs[i], options));
        if (!options.common.json) print(outputText(manifest.outputs[i], outputs[i], options));
    }
    if (options.common.json)
        printJson({{"place", place.name}, {"sha256", place.sha256}, {"outputs", std::move(list)}});
    if (options.outputs.empty()) return kSuccess;
    const Status written = writeOutputs(manifest.outputs, outputs, options.outputs);
    return written ? kSuccess : failure(written.error());
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
    return tell(options, report->manifest, report->outputs, {place, report->sha256});
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
    return tell(options, manifest, *outputs, {placeOf(*request), *digest});
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
