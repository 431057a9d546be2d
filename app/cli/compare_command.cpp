// SPDX-License-Identifier: Apache-2.0
// tenon compare: every tensor that a device computes beside a reference.
#include "app/cli/board_access.h"
#include "app/cli/compare_report.h"
#include "app/cli/interrupt.h"
#include "app/cli/number_checks.h"
#include "app/runs/comparison_run.h"
#include "compiler/driver/target_cores.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

constexpr const char* kCompareRule =
    "Floats leave tolerance where an element is off by more than --rtol of itself and --atol of "
    "the tensor's largest; integers where one is off by more than --steps, or more than 2 % of "
    "them by any. Integers beside a reference of floats leave it where their kernel alone is off "
    "by more than 4 steps of their own scale (root mean square; 8 over one channel or other "
    "index); other tensors beside another model where their kernel alone has less than 20 dB; "
    "results of the model, and what cannot be computed alone, below 20 dB. With --min-sqnr a "
    "tensor leaves it below so many dB, and nothing else counts. Errors are cumulative, "
    "everything before computed by the device as well, and isolated, the kernel alone on the "
    "reference's inputs.";

struct CompareOptions
{
    CommonOptions common;
    BoardOptions where;
    std::string path;
    std::vector<std::string> inputs;
    std::string reference = "opt0";
    ErrorLimits limits;
    double leastSqnrDb = 0;
    bool hasLeastSqnr = false;
    std::string csv;
    int64_t pieceBytes = 0;
    bool skipsIsolated = false;
    bool measuresNoise = false;
    CompareReport report;
    int timeoutS = 300;
};

/// The target of the board, unless another one was asked for.
Status aimAtBoard(CompareOptions& options)
{
    if (!options.where.isElsewhere()) return kDone;
    const auto board = chosenBoard(options.where);
    if (!board) return board.error();
    std::string& target = options.common.target;
    const bool isGiven = target != CommonOptions().target;
    if (!isGiven) target = board->target;
    target = compiler::withCores(target, board->threads);
    if (isGiven || !board->target.empty()) return kDone;
    return makeError(DiagnosticCode::BadTarget,
                     "the target of board " + core::quoted(board->name) +
                         " is not known yet; run `tenon board probe` or give --target");
}

Result<runs::ComparedData> dataOf(const CompareOptions& options)
{
    auto bindings = importOptions(options.common);
    if (!bindings) return bindings.error();
    return runs::ComparedData{options.path, options.inputs, std::move(*bindings),
                              options.common.executor == "vm"};
}

/// Reads the model and its data; says what was made up.
Result<runs::ComparedModel> openModelAndData(const runs::ComparedData& data)
{
    const ComputingScope scope;
    auto model = runs::openCompared(data);
    if (!model) return model;
    for (const Diagnostic& note : model->notes) printDiagnostic(note);
    return model;
}

Result<Comparison> compared(const CompareOptions& options, JobContext& job)
{
    auto data = dataOf(options);
    if (!data) return data.error();
    const auto model = openModelAndData(*data);
    if (!model) return model.error();
    remote::NoPrompt noPrompt;
    std::unique_ptr<remote::Deployer> board;
    runs::ComparisonQuestion question{.data = std::move(*data),
                                      .reference = options.reference,
                                      .options = compileOptions(options.common),
                                      .limits = options.limits,
                                      .pieceBytes = options.pieceBytes,
                                      .isolates = !options.skipsIsolated,
                                      .measuresNoise = options.measuresNoise,
                                      .place = {.threads = options.common.threads,
                                                .timeout = std::chrono::seconds(options.timeoutS),
                                                .skipsPreflight = options.where.skipsPreflight}};
    if (options.where.isElsewhere()) {
        const auto chosen = chosenBoard(options.where);
        if (!chosen) return chosen.error();
        board =
            std::make_unique<remote::Deployer>(*chosen, deployEnvironment(options.where, noPrompt));
        question.place.board = board.get();
        question.place.boardName = chosen->name;
        question.place.boardProject = chosen->project;
    }
    return runs::runComparison(question, *model, job);
}

int compare(CompareOptions options, JobContext& job)
{
    if (const Status chosen = chooseVirtualBoard(options.where, job); !chosen)
        return failure(chosen.error());
    if (const Status aimed = aimAtBoard(options); !aimed) return failure(aimed.error());
    if (options.hasLeastSqnr) options.limits.leastSqnrDb = options.leastSqnrDb;
    const auto comparison = compared(options, job);
    if (!comparison) return failure(inModel(comparison.error(), options.path));
    if (!options.csv.empty()) {
        const std::string csv = comparisonCsv(*comparison);
        if (Status written = writeFileAtomically(options.csv, csv); !written)
            return failure(written.error());
    }
    if (options.common.json)
        printJson(comparisonJson(*comparison));
    else
        print(comparisonText(*comparison, options.report));
    const std::vector<size_t> ranked = comparison->ranked();
    const auto& alone = comparison->tensors[ranked.front()].isolated;
    return comparison->first() || (alone && alone->isOutside) ? kFailed : kSuccess;
}

void addToleranceOptions(CLI::App& command, CompareOptions& options)
{
    command.add_option("--rtol", options.limits.relative, "relative tolerance of floats")
        ->check(kNonNegative)
        ->capture_default_str();
    command
        .add_option("--atol", options.limits.ofLargest,
                    "tolerance of floats as a share of the tensor's largest")
        ->check(kNonNegative)
        ->capture_default_str();
    command.add_option("--steps", options.limits.steps, "tolerance of integers")
        ->check(kNonNegative)
        ->capture_default_str();
    command.add_option("--min-sqnr", options.leastSqnrDb,
                       "signal to error in dB that every tensor must have, instead of those");
}

void addCompareOptions(CLI::App& command, CompareOptions& options)
{
    command.add_option(
        "--inputs", options.inputs,
        "data sets: folders, a folder of such, or the files of one (.pb, .npy, .npz); "
        "default: "
        "test_data_set_* beside the model, else values made up");
    command
        .add_option("--reference", options.reference,
                    "opt0: the model at level 0 on this computer; onnxruntime: the same there "
                    "(TENON_ONNXRUNTIME names its library); a file or folder of tensors "
                    "(.npz, .npy, .pb); or another model, whose tensors of the same names stand "
                    "for this one's")
        ->capture_default_str();
    addToleranceOptions(command, options);
    command.add_option("--csv", options.csv, "file for one line per tensor");
    command.add_option("--worst", options.report.most, "tensors in the table; 0: all, in order")
        ->capture_default_str();
    command.add_flag("--absorbed", options.report.tellsAbsorbed,
                     "list the tensors that the program computes past");
    command.add_flag("--no-isolated", options.skipsIsolated,
                     "leave out the kernels alone on the reference's inputs");
    command.add_flag("--noise", options.measuresNoise,
                     "also run the model at level 0 twice, its sums from the start and from the "
                     "end: how far rounding alone moves every tensor");
    command
        .add_option("--piece", options.pieceBytes,
                    "tensors that one program hands out or takes, such as 64KiB; more take several "
                    "programs; 0: 32 MiB, for microcontrollers 64 KiB")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    command.add_option("--timeout", options.timeoutS, "seconds for each step")
        ->check(kPositive)
        ->capture_default_str();
}

} // namespace

void addCompare(CLI::App& app, Action& action)
{
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command = app.add_subcommand(
        "compare", "every tensor that a device computes beside a reference: who is off first");
    command->add_option("MODEL", options->path, "model, or a folder with one and test_data_set_*")
        ->required();
    addCompileOptions(*command, options->common);
    addBoardOptions(*command, options->where);
    addCompareOptions(*command, *options);
    command->footer(kCompareRule);
    command->callback([options, command, &action] {
        options->hasLeastSqnr = command->count("--min-sqnr") > 0;
        options->limits.holdsToRounding =
            command->count("--rtol") + command->count("--atol") + command->count("--steps") == 0;
        action = [options](JobContext& job) { return compare(*options, job); };
    });
}

} // namespace tenon::cli
