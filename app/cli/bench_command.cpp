// SPDX-License-Identifier: Apache-2.0
// tenon bench: time_evaluator on this computer or a board, per model or per layer.
#include "app/cli/bench_report.h"
#include "app/cli/board_access.h"
#include "app/cli/explain_report.h"
#include "app/cli/history_report.h"
#include "app/cli/levels_report.h"
#include "app/cli/open_for_build.h"
#include "app/runs/read_inputs.h"
#include "compiler/frontend/mlf/model_library_file.h"
#include "core/artifact/trace_events.h"
#include "core/base/file.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/peer/output_difference.h"
#include "remote/peer/peer.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct BenchOptions
{
    CommonOptions common;
    std::string path;
    std::vector<std::string> inputs;
    bool tellsHistory = false;
    std::string between;
    BoardOptions where;
    remote::TimingRequest timing;
    SamplingOptions sampling;
    bool isUnpinned = false;
    bool comparesLevels = false;
    bool isExplained = false;
    std::string trace; ///< file for the times of the calls
    std::string peer;
    std::string peerLibrary;
};

/// What --explain adds.
std::string explanation(const BenchOptions& options, const Manifest& manifest,
                        const remote::Timing& timing)
{
    if (!options.isExplained) return {};
    if (timing.summaryMs.areInstructions)
        return "note: --explain sums up times; these are instructions, by call above\n";
    return auditText(remote::auditOf(manifest, timing.callMs, timing.peak));
}

/// What --trace asks for.
Status writeTrace(const BenchOptions& options, const remote::Board& board, const Manifest& manifest,
                  const remote::Timing& timing)
{
    if (options.trace.empty()) return core::kDone;
    if (timing.summaryMs.areInstructions)
        return makeError(DiagnosticCode::BadArgument,
                         "--trace writes times, but this board counts instructions; leave it out");
    return writeFileAtomically(options.trace,
                               core::traceEvents(tracedRun(options.path, board, manifest, timing)));
}

void tell(const BenchOptions& options, const remote::Board& board, const Manifest& manifest,
          const remote::Timing& timing, const std::string& sha256)
{
    if (options.common.json)
        printJson(benchJson(board, manifest, timing, sha256));
    else
        print(benchText(board, manifest, timing) + explanation(options, manifest, timing));
}

/// What --peer asks for, on the inputs of `request`.
Result<std::shared_ptr<remote::Peer>> startPeer(const BenchOptions& options,
                                                const remote::RunRequest& request, JobContext& job)
{
    const auto refused = [](const std::string& why) {
        return makeError(DiagnosticCode::BadArgument, "--peer " + why);
    };
    if (!options.path.ends_with(".onnx")) return refused("needs a model, an .onnx file");
    if (request.isEmulated) return refused("compares on this processor; leave out --target");
    const std::string library =
        options.peerLibrary.empty() ? remote::libraryOfPeer() : options.peerLibrary;
    if (library.empty())
        return refused("needs ONNX Runtime's library: set TENON_ONNXRUNTIME to the path of "
                       "libonnxruntime.so, or give --peer-library");
    auto peer = remote::Peer::start({.library = library,
                                     .model = options.path,
                                     .inputs = request.inputs,
                                     .threads = request.threads},
                                    job);
    if (!peer) return peer.error();
    return std::shared_ptr<remote::Peer>(std::move(*peer));
}

int benchElsewhere(const BenchOptions& options, const remote::TimingRequest& timing,
                   JobContext& job)
{
    const BoardJob work{.where = options.where,
                        .common = options.common,
                        .inputs = options.inputs,
                        .timing = timing};
    int code = kSuccess;
    const remote::DeployReportPtr report = deployOnce(work, options.path, job, code);
    if (!report) return code;
    if (const Status written =
            writeTrace(options, report->board, report->manifest, *report->timing);
        !written)
        return failure(written.error());
    tell(options, report->board, report->manifest, *report->timing, report->sha256);
    remember(boardStore(options.where.config), *report, options.common.optLevel);
    return kSuccess;
}

/// Given, or made up where none are.
Result<remote::NamedTensors> inputsFor(const BenchOptions& options, const Manifest& manifest)
{
    if (options.inputs.empty()) return remote::madeUpInputs(manifest);
    return runs::readInputs(manifest.inputs, options.inputs);
}

/// Says what times are worth where they were taken: beside the peak of this computer, or nothing.
void placeTimes(const remote::RunRequest& request, const remote::TimingRequest& timing,
                remote::Timing& measured)
{
    if (timing.perCall && !request.isEmulated)
        measured.peak = remote::measurePeak(measured.threads);
    if (request.isEmulated && request.instructionNs == 0)
        measured.hygiene.warnings.insert(measured.hygiene.warnings.begin(),
                                         placeOf(request) +
                                             ": these times say nothing about a real processor");
}

/// --levels: the model at 0 to 3, side by side.
int benchLevels(const BenchOptions& options, const remote::TimingRequest& timing, JobContext& job)
{
    if (options.where.isElsewhere() || !options.peer.empty() || !options.inputs.empty())
        return wrongUsage("--levels measures a model on this computer with made-up inputs; leave "
                          "out --board, --peer and --inputs");
    if (compiler::outputFormatOf(options.path) && !compiler::isModelLibraryFile(options.path))
        return wrongUsage("--levels compiles at each level; give the model, not an artifact");
    auto opened = openForBuild(options.path, options.common);
    if (!opened) return failure(opened.error());
    printDiagnostics(opened->loaded->diagnostics);
    if (hasErrors(opened->loaded->diagnostics)) return kBadInput;
    auto levels = remote::measureLevels(
        {.loaded = opened->loaded, .options = compileOptions(options.common), .timing = timing},
        job);
    if (!levels) return failure(inModel(levels.error(), options.path));
    if (options.common.json)
        printJson(levelsJson(*levels));
    else
        print(levelsText(*levels));
    return kSuccess;
}

int bench(const BenchOptions& options, JobContext& job)
{
    if (options.tellsHistory || !options.between.empty())
        return printHistory({options.path, options.common, options.where, options.between});
    remote::TimingRequest timing = options.timing;
    applySampling(options.sampling, timing);
    timing.pin = !options.isUnpinned;
    if (options.comparesLevels && !options.trace.empty())
        return wrongUsage("--trace is of one program; leave out --levels");
    if (options.comparesLevels) return benchLevels(options, timing, job);
    timing.perCall |= options.isExplained || !options.trace.empty();
    if (options.where.isElsewhere() && !options.peer.empty())
        return wrongUsage("--peer compares on this computer; leave out --board");
    if (options.where.isElsewhere()) return benchElsewhere(options, timing, job);
    auto runnable = openRunnable(options.path, options.common, sourceOf(options.inputs), job);
    if (!runnable) return failure(runnable.error());
    auto request = runRequest(*runnable, options.common, std::chrono::minutes(5));
    if (!request) return failure(request.error());
    auto inputs = inputsFor(options, runnable->manifest);
    if (!inputs) return failure(inputs.error());
    request->inputs = std::move(*inputs);
    if (!options.peer.empty()) {
        auto peer = startPeer(options, *request, job);
        if (!peer) return failure(peer.error());
        timing.peer = std::move(*peer);
        timing.peerShare = remote::outputShareOf(runnable->manifest);
    }
    auto measured = remote::measureArtifact(*request, timing, job);
    if (!measured) return failure(measured.error());
    placeTimes(*request, timing, *measured);
    const remote::Board here{.name = std::string(remote::kThisComputer)};
    const auto digest = runnable->sha256();
    if (!digest) return failure(digest.error());
    if (const Status written = writeTrace(options, here, runnable->manifest, *measured); !written)
        return failure(written.error());
    tell(options, here, runnable->manifest, *measured, *digest);
    return kSuccess;
}

/// What is asked of earlier measurements.
void addHistoryOptions(CLI::App& command, BenchOptions& options)
{
    command.add_flag("--history", options.tellsHistory,
                     "measure nothing: list what was measured of the model on the board before");
    command.add_option("--between", options.between,
                       "two runs of --history, such as 12,15: every kernel call of both");
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
    addBoardOptions(*command, options->where);
    addTimingOptions(*command, options->timing, options->sampling);
    command
        ->add_option("--min-repeat-ms", options->timing.minRepeatMs, "least duration of a sample")
        ->capture_default_str();
    command->add_flag("--per-layer", options->timing.perCall, "time every kernel call, too");
    command->add_flag("--levels", options->comparesLevels,
                      "compile at the optimization levels 0 to 3 and compare them");
    command->add_flag("--explain", options->isExplained,
                      "time every kernel call and say where the time goes: by method, outside "
                      "blocks and why, in moving data and at what rate");
    command->add_option(
        "--trace", options->trace,
        "write the times of all kernel calls for Chrome's tracing page and Perfetto");
    command
        ->add_option("--peer", options->peer,
                     "measure that engine, too, in turns on the same inputs and threads")
        ->check(CLI::IsMember({"onnxruntime"}));
    command->add_option("--peer-library", options->peerLibrary,
                        "libonnxruntime.so; default: $TENON_ONNXRUNTIME");
    addHistoryOptions(*command, *options);
    command->add_flag("--cold-cache", options->timing.coldCache,
                      "empty the caches before each sample");
    command->add_flag("--no-pin", options->isUnpinned, "do not tie threads to CPUs");
    command->callback([options, &action] {
        action = [options](JobContext& job) {
            const Status chosen = chooseVirtualBoard(options->where, job);
            return chosen ? bench(*options, job) : failure(chosen.error());
        };
    });
}

} // namespace tenon::cli
