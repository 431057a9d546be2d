// SPDX-License-Identifier: Apache-2.0
// tenon quantize: a float ONNX model and example data become a model of 8-bit integers.
#include "app/cli/board_access.h"
#include "app/cli/number_checks.h"
#include "app/cli/open_for_build.h"
#include "app/cli/quantize_report.h"
#include "app/runs/model_cost.h"
#include "compiler/driver/target_cores.h"
#include "compiler/quantize/calibration_files.h"
#include "compiler/quantize/other_file.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/written_path.h"
#include "remote/session/compiled_runner.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace tenon::cli {
namespace {

constexpr const char* kPlace =
    "Ranges and errors are measured on this computer. --target, --board and the options of compile "
    "say where the result is to run: its flash, RAM and time there are told beside those of the "
    "float model.";

struct QuantizeCommand
{
    CommonOptions common; ///< of what is compiled from the result
    BoardOptions where;
    std::string model, data, evaluation, output;
    std::string method = "minmax", activations = "int8", weights = "int8", wider = "float";
    size_t mostSets = 100;
    bool isPerTensor = false;
    compiler::QuantizeOptions quantize;
};

bool isModelFile(const std::string& path) { return path.ends_with(".onnx"); }

/// Somebody asked what models take where they are to run.
bool wantsPrices(const QuantizeCommand& command)
{
    const compiler::QuantizeOptions& options = command.quantize;
    return options.measuresSensitivity || options.limits.flashBytes > 0 ||
           options.limits.time > 0 || command.where.isElsewhere();
}

/// The place where the result is to run. Not copied: prices are taken on its board.
class BoardPlace
{
public:
    Status choose(QuantizeCommand& command)
    {
        if (!command.where.isElsewhere()) return kDone;
        const auto board = chosenBoard(command.where);
        if (!board) return board.error();
        std::string& target = command.common.target;
        if (target == CommonOptions().target) target = board->target;
        if (target.empty())
            return makeError(DiagnosticCode::BadTarget,
                             "the target of board " + core::quoted(board->name) +
                                 " is not known yet; run `tenon board probe` or give --target");
        target = compiler::withCores(target, board->threads);
        m_name = board->name;
        m_board =
            std::make_unique<remote::Deployer>(*board, deployEnvironment(command.where, m_prompt));
        return kDone;
    }
    runs::RunPlace place(const QuantizeCommand& command) const
    {
        return {.board = m_board.get(),
                .boardName = m_name,
                .threads = command.common.threads,
                .skipsPreflight = command.where.skipsPreflight};
    }

private:
    remote::NoPrompt m_prompt;
    std::unique_ptr<remote::Deployer> m_board;
    std::string m_name;
};

compiler::QuantizeOptions optionsOf(const QuantizeCommand& command, const BoardPlace& place)
{
    compiler::QuantizeOptions options = command.quantize;
    options.activations.method = *compiler::rangeMethodOf(command.method);
    options.activations.dtype = *compiler::activationTypeOf(command.activations);
    options.weightType = *compiler::activationTypeOf(command.weights);
    options.isPerChannel = !command.isPerTensor;
    options.wider = *precisionOf(command.wider);
    options.needsPrice = wantsPrices(command);
    // Of another target it is told where that can be counted and run here.
    if (options.needsPrice || command.common.target != CommonOptions().target)
        options.price = runs::pricedAt(compileOptions(command.common), place.place(command));
    return options;
}

/// Models run on this computer to calibrate, whatever the result is for.
compiler::OpenRunner runnerOf(const QuantizeCommand& command)
{
    CommonOptions here;
    here.noCache = command.common.noCache;
    return remote::compiledRunner(compileOptions(here));
}

/// What --shape binds, which the model must have open. Of a TensorFlow Lite model it is told what
/// it keeps from run to run, which the result does not; what is wrong with it is found later.
Result<compiler::ImportOptions> sizesOf(const QuantizeCommand& command)
{
    auto sizes = importOptions(command.common);
    const bool isBound = !command.common.shapes.empty(),
               isLite = command.model.ends_with(".tflite");
    if (!sizes || (!isBound && !isLite)) return sizes;
    const auto opened = openModel(command.model, command.common);
    if (!opened && isBound) return opened.error();
    if (!opened) return sizes;
    const std::vector<Diagnostic>& told = opened->loaded->diagnostics;
    for (const Diagnostic& problem : told)
        if (isBound && problem.severity == Severity::Error) return problem;
    for (const Diagnostic& problem : told)
        if (isLite && problem.severity == Severity::Warning) printDiagnostic(problem);
    return sizes;
}

/// For a model in which all sizes are bound already.
CommonOptions withoutSizes(CommonOptions options, const compiler::ImportOptions& sizes)
{
    options.shapes.clear();
    for (const auto& [name, bounds] : sizes.bounds) {
        std::vector<std::string> texts;
        for (const DimBounds& one : bounds) texts.push_back(boundsText(one));
        options.shapes.push_back(name + "=" + join(texts, ","));
    }
    return options;
}

/// The model itself, or what compile makes of it.
Status write(QuantizeCommand command, const compiler::ImportOptions& sizes,
             const std::string& bytes, JobContext& job)
{
    if (isModelFile(command.output)) return writeFileAtomically(command.output, bytes);
    auto folder = TemporaryFolder::make("tenon-quantized-");
    if (!folder) return folder.error();
    const std::string model = folder->file("model.onnx");
    if (Status done = writeFileAtomically(model, bytes); !done) return done;
    command.common = withoutSizes(std::move(command.common), sizes);
    const auto opened = openForBuild(model, command.common);
    if (!opened) return opened.error();
    const auto built = compileOpened(opened->loaded, compileOptions(command.common), job);
    if (!built) return built.error();
    noteChoices(**built, command.common.verbosity);
    const auto written =
        compiler::writeProgram(**built, compiler::CInterface::Packed, command.output);
    return written ? Status(kDone) : Status(written.error());
}

/// Before anything is measured: the format of the output is known, and it can be written without
/// harm to the model.
Status checkOutput(const QuantizeCommand& command)
{
    if (Status other = compiler::needOtherFile(command.model, command.output); !other) return other;
    if (isModelFile(command.output)) return needFolderOf(command.output);
    const auto target = parseTarget(command.common.target);
    if (!target) return target.error();
    const compiler::BackEnd* backEnd = compiler::findBackEnd(*target);
    if (backEnd && backEnd->sources) return kDone; // a folder of C has any name
    const auto format = compiler::outputFormatOf(command.output);
    if (format) return kDone;
    Diagnostic error = format.error();
    error.message += "; or in .onnx for the model itself";
    return error;
}

int quantize(QuantizeCommand command, JobContext& job)
{
    if (const Status chosen = chooseVirtualBoard(command.where, job); !chosen)
        return failure(chosen.error());
    BoardPlace place;
    if (const Status chosen = place.choose(command); !chosen) return failure(chosen.error());
    if (const Status known = checkOutput(command); !known) return failure(known.error());
    compiler::QuantizeOptions options = optionsOf(command, place);
    const auto sizes = sizesOf(command);
    if (!sizes) return failure(sizes.error());
    options.sizes = *sizes;
    const auto data =
        compiler::readCalibration(command.model, command.data, command.mostSets, *sizes);
    if (!data) return failure(data.error());
    if (!command.evaluation.empty()) {
        auto other = compiler::readCalibration(command.model, command.evaluation,
                                               std::max(options.measuredSets, size_t{1}), *sizes);
        if (!other) return failure(other.error());
        options.evaluation = *std::move(other);
    }
    const auto made =
        compiler::quantizeModel(command.model, *data, options, runnerOf(command), job);
    if (!made) return failure(inModel(made.error(), command.model));
    printDiagnostics(made->report.remarks);
    if (Status written = write(command, *sizes, made->bytes, job); !written)
        return failure(written.error());
    if (command.common.json)
        printJson(quantizeJson(made->report));
    else
        print(quantizeText(made->report, command.common.verbosity) + "wrote " + command.output +
              "\n");
    return kSuccess;
}

void addRangeOptions(CLI::App& command, QuantizeCommand& options)
{
    command
        .add_option("--method", options.method,
                    "how ranges follow from the data: minmax (all that was seen), percentile, "
                    "entropy (least Kullback-Leibler divergence), mse (least square error)")
        ->check(CLI::IsMember({"minmax", "percentile", "entropy", "mse"}))
        ->capture_default_str();
    command
        .add_option("--percentile", options.quantize.activations.percentile,
                    "percent of the values that stay inside of the range, with --method percentile")
        ->check(CLI::Range(50.0, 100.0))
        ->capture_default_str();
    command.add_option("--activations", options.activations, "int8, uint8, int16 or uint16")
        ->check(CLI::IsMember({"int8", "uint8", "int16", "uint16"}))
        ->capture_default_str();
    command.add_option("--weights", options.weights, "int8 or uint8; always symmetric")
        ->check(CLI::IsMember({"int8", "uint8"}))
        ->capture_default_str();
    command.add_flag("--symmetric", options.quantize.activations.isSymmetric,
                     "zero lies in the middle of the integers of activations");
    command.add_flag(
        "--bias-correction", options.quantize.correctsBias,
        "biases take up what the rounding of weights adds to the mean of each channel");
    command.add_flag("--equalize", options.quantize.equalizes,
                     "scales channels between consecutive layers so that their weights fill the "
                     "integers alike; the float model computes the same. For --per-tensor");
    command.add_flag("--per-tensor", options.isPerTensor,
                     "one scale for all weights of a layer instead of one per output channel");
}

void addMixOptions(CLI::App& command, QuantizeCommand& options)
{
    compiler::QuantizeOptions& quantize = options.quantize;
    command.add_option("--float-node", quantize.floatNodes, "node that stays in float; repeatable")
        ->type_name("NAME");
    command
        .add_option("--float-op", quantize.floatOps,
                    "operator whose nodes stay in float, for example Add; repeatable")
        ->type_name("OP");
    command
        .add_option("--int16-node", quantize.wideNodes,
                    "layer whose data get 16 bits, what it reads and what it makes; repeatable")
        ->type_name("NAME");
    command
        .add_option("--wider", options.wider,
                    "what the most harmful layers get until the limits below are met: float, or "
                    "int16 for their data")
        ->check(CLI::IsMember({"float", "int16"}))
        ->capture_default_str();
    command
        .add_option("--max-loss", quantize.limits.loss,
                    "root mean square error of every output as a share of the output's own, for "
                    "example 0.02: the most harmful layers are wider until that is met")
        ->check(CLI::Range(0.0, 1.0));
    command
        .add_option("--budget-size", quantize.limits.flashBytes,
                    "flash that the compiled model may take, such as 200KiB: as many of the most "
                    "harmful layers are wider as that has room for")
        ->transform(CLI::AsSizeValue(false));
    command
        .add_option("--budget-time", quantize.limits.time,
                    "the same for the time of a run, in microseconds, or in instructions on an "
                    "emulated microcontroller")
        ->check(kPositive);
    command.add_flag("--sensitivity", quantize.measuresSensitivity,
                     "measure every layer alone in 8 and 16 bits, and the curve of error against "
                     "size and time that mixing gives");
    command.add_flag("--integer-io", quantize.hasIntegerEnds,
                     "inputs and outputs of the model are the integers, without floats at its "
                     "ends");
}

} // namespace

void addQuantize(CLI::App& app, Action& action)
{
    auto options = std::make_shared<QuantizeCommand>();
    CLI::App* command = app.add_subcommand(
        "quantize", "a float model as one that computes with 8-bit integers (ONNX with QDQ)");
    command->add_option("MODEL", options->model, "ONNX or TensorFlow Lite model of 32-bit floats")
        ->required();
    command
        ->add_option("--data,--calibrate", options->data,
                     "examples to calibrate with: a folder of data sets (test_data_set_0/..), of "
                     ".npz, .npy or .pb files, or one such file; several examples along the first "
                     "axis count as many")
        ->required();
    command
        ->add_option(
            "-o,--output", options->output,
            "the ONNX file to write; with a suffix of `compile`, what that makes of it for "
            "the target: model.elf, model.mlf.tar, ..")
        ->required();
    addRangeOptions(*command, *options);
    addMixOptions(*command, *options);
    command->add_option("--samples", options->mostSets, "examples to take at most")
        ->check(kPositive)
        ->capture_default_str();
    command
        ->add_option("--measure", options->quantize.measuredSets,
                     "examples on which the result is compared with the float model")
        ->capture_default_str();
    command->add_option("--evaluate", options->evaluation,
                        "other examples to compare on, found as those of --data; says when they go "
                        "beyond what was seen in those (default: the first of --data)");
    addCompileOptions(*command, options->common);
    addBoardOptions(*command, options->where);
    command->footer(kPlace);
    command->callback([options, &action] {
        action = [options](JobContext& job) { return quantize(*options, job); };
    });
}

} // namespace tenon::cli
