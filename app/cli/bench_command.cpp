// SPDX-License-Identifier: Apache-2.0
// tenon bench: time_evaluator on this computer, per model or per layer.
#include "app/cli/execution.h"
#include "core/base/text.h"

namespace tenon::cli {
namespace {

struct BenchOptions
{
    CommonOptions common;
    std::string path;
    std::vector<std::string> inputs;
    std::string board;
    remote::TimingRequest timing;
    bool isUnpinned = false;
};

Json layersJson(const Manifest& manifest, const remote::Timing& timing)
{
    Json out = Json::array();
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const bool hasKernel =
            call.kernel >= 0 && call.kernel < static_cast<int>(manifest.kernels.size());
        out.push_back(
            {{"call", call.name},
             {"symbol", hasKernel ? manifest.kernels[static_cast<size_t>(call.kernel)].symbol : ""},
             {"from_nodes", call.fromNodes},
             {"ms", timing.callMs[i]},
             {"flops", call.flops}});
    }
    return out;
}

Json benchJson(const Manifest& manifest, const remote::Timing& timing)
{
    const remote::Summary& summary = timing.summaryMs;
    const remote::Hygiene& hygiene = timing.hygiene;
    return {{"board", "local"},
            {"threads", timing.threads},
            {"runs", timing.runsMs},
            {"median_ms", summary.median},
            {"mad_ms", summary.mad},
            {"p95_ms", summary.p95},
            {"min_ms", summary.min},
            {"ci95_ms", {summary.ci95Low, summary.ci95High}},
            {"layers", layersJson(manifest, timing)},
            {"layers_sum_ms", timing.callSumMs},
            {"hygiene",
             {{"cpu", hygiene.cpuModel},
              {"governor", hygiene.governor},
              {"load", hygiene.loadAverage},
              {"clock_mhz", hygiene.clockMhz},
              {"pinned", hygiene.isPinned},
              {"involuntary_switches", hygiene.involuntarySwitches},
              {"major_faults", hygiene.majorFaults},
              {"warnings", hygiene.warnings}}},
            {"peers", Json::array()}};
}

std::string benchText(const Manifest& manifest, const remote::Timing& timing)
{
    const remote::Summary& summary = timing.summaryMs;
    std::string out = "median " + fixed(summary.median, 3) + " ms (95 % " +
                      fixed(summary.ci95Low, 3) + " to " + fixed(summary.ci95High, 3) + ", p95 " +
                      fixed(summary.p95, 3) + ", min " + fixed(summary.min, 3) + ") over " +
                      std::to_string(timing.runsMs.size()) + " runs, " +
                      std::to_string(timing.threads) + " threads\n";
    if (!timing.callMs.empty()) {
        std::vector<std::vector<std::string>> rows{{"call", "ms", "%", "GFLOP/s", "from"}};
        for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
            const ManifestCall& call = manifest.calls[i];
            const double ms = timing.callMs[i];
            const double share = timing.callSumMs > 0 ? ms / timing.callSumMs * 100 : 0;
            rows.push_back({call.name, fixed(ms, 4), fixed(share, 1),
                            ms > 0 ? fixed(call.flops / ms / 1e6, 1) : "",
                            join(call.fromNodes, " ")});
        }
        out += table(rows) + "calls together " + fixed(timing.callSumMs, 3) + " ms, whole run " +
               fixed(summary.median, 3) + " ms\n";
    }
    for (const std::string& warning : timing.hygiene.warnings) out += "note: " + warning + "\n";
    return out;
}

int bench(const BenchOptions& options, JobContext& job)
{
    if (!options.board.empty() && options.board != "local")
        return wrongUsage("there is no board " + core::quoted(options.board) +
                          "; only `local` exists");
    auto runnable = openRunnable(options.path, options.common, job);
    if (!runnable) return failure(runnable.error());
    auto request = runRequest(*runnable, threadCount(options.common), std::chrono::minutes(5));
    if (!request) return failure(request.error());
    if (options.inputs.empty()) {
        request->inputs = madeUpInputs(runnable->manifest.inputs);
    } else {
        auto given = readTensors(options.inputs);
        if (!given) return failure(given.error());
        auto inputs = assignInputs(runnable->manifest.inputs, *given);
        if (!inputs) return failure(inputs.error());
        request->inputs = std::move(*inputs);
    }
    remote::TimingRequest timing = options.timing;
    timing.pin = !options.isUnpinned;
    auto measured = remote::measureArtifact(*request, timing, job);
    if (!measured) return failure(measured.error());
    if (!request->emulator.empty())
        measured->hygiene.warnings.insert(measured->hygiene.warnings.begin(),
                                          placeOf(*request) +
                                              ": these times say nothing about a real processor");
    if (options.common.json)
        printJson(benchJson(runnable->manifest, *measured));
    else
        print(benchText(runnable->manifest, *measured));
    return kSuccess;
}

} // namespace

void addBench(CLI::App& app, Action& action)
{
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand("bench", "measure a model or artifact");
    command->add_option("MODEL|ARTIFACT", options->path, "model, or a .so that compile wrote")
        ->required();
    addCompileOptions(*command, options->common);
    command->add_option("--inputs", options->inputs, "folder or files; default: made up");
    command->add_option("--board", options->board, "where to run; default: this computer");
    command->add_option("--number", options->timing.number, "runs per sample")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--repeat", options->timing.repeat, "samples")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        ->add_option("--min-repeat-ms", options->timing.minRepeatMs, "least duration of a sample")
        ->capture_default_str();
    command->add_flag("--per-layer", options->timing.perCall, "time every kernel call, too");
    command->add_flag("--cold-cache", options->timing.coldCache,
                      "empty the caches before each sample");
    command->add_flag("--no-pin", options->isUnpinned, "do not tie threads to CPUs");
    command->callback([options, &action] {
        action = [options](JobContext& job) { return bench(*options, job); };
    });
}

} // namespace tenon::cli
