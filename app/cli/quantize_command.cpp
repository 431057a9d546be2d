// SPDX-License-Identifier: Apache-2.0
// tenon quantize: a float ONNX model and example data become a model of 8-bit integers.
#include "app/cli/quantize_report.h"
#include "compiler/quantize/calibration_files.h"
#include "core/base/file.h"
#include "remote/session/compiled_runner.h"

#include <algorithm>

namespace tenon::cli {
namespace {

struct QuantizeCommand
{
    CommonOptions common;
    std::string model, data, evaluation, output;
    std::string method = "minmax", activations = "int8", weights = "int8";
    size_t mostSets = 100;
    bool isPerTensor = false;
    compiler::QuantizeOptions quantize;
};

int quantize(const QuantizeCommand& command, JobContext& job)
{
    compiler::QuantizeOptions options = command.quantize;
    options.activations.method = *compiler::rangeMethodOf(command.method);
    options.activations.dtype = *compiler::activationTypeOf(command.activations);
    options.weightType = *compiler::activationTypeOf(command.weights);
    options.isPerChannel = !command.isPerTensor;
    const auto data = compiler::readCalibration(command.model, command.data, command.mostSets);
    if (!data) return failure(data.error());
    if (!command.evaluation.empty()) {
        auto other = compiler::readCalibration(command.model, command.evaluation,
                                               std::max(options.measuredSets, size_t{1}));
        if (!other) return failure(other.error());
        options.evaluation = *std::move(other);
    }
    const auto made = compiler::quantizeModel(
        command.model, *data, options, remote::compiledRunner(compileOptions(command.common)), job);
    if (!made) return failure(inModel(made.error(), command.model));
    printDiagnostics(made->report.remarks);
    if (Status written = writeFileAtomically(command.output, made->bytes); !written)
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

} // namespace

void addQuantize(CLI::App& app, Action& action)
{
    auto options = std::make_shared<QuantizeCommand>();
    CLI::App* command = app.add_subcommand(
        "quantize", "a float ONNX model as one that computes with 8-bit integers (QDQ)");
    command->add_option("MODEL", options->model, "ONNX model of 32-bit floats")->required();
    command
        ->add_option("--data", options->data,
                     "examples to calibrate with: a folder of data sets (test_data_set_0/..), of "
                     ".npz, .npy or .pb files, or one such file; several examples along the first "
                     "axis count as many")
        ->required();
    command->add_option("-o,--output", options->output, "the ONNX file to write")->required();
    addRangeOptions(*command, *options);
    command
        ->add_option("--float-node", options->quantize.floatNodes,
                     "node that stays in float; repeatable")
        ->type_name("NAME");
    command
        ->add_option("--float-op", options->quantize.floatOps,
                     "operator whose nodes stay in float, for example Add; repeatable")
        ->type_name("OP");
    command->add_option("--samples", options->mostSets, "examples to take at most")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        ->add_option("--measure", options->quantize.measuredSets,
                     "examples on which the result is compared with the float model")
        ->capture_default_str();
    command->add_option("--evaluate", options->evaluation,
                        "other examples to compare on, found as those of --data; says when they go "
                        "beyond what was seen in those (default: the first of --data)");
    command
        ->add_option("--max-loss", options->quantize.largestLoss,
                     "root mean square error of every output as a share of the output's own, for "
                     "example 0.02: the most harmful layers stay in float until that is met")
        ->check(CLI::Range(0.0, 1.0));
    addOutputOptions(*command, options->common);
    command->callback([options, &action] {
        action = [options](JobContext& job) { return quantize(*options, job); };
    });
}

} // namespace tenon::cli
