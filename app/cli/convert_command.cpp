// SPDX-License-Identifier: Apache-2.0
// tenon convert: a model as one ONNX file that other tools read.
#include "app/cli/command.h"
#include "compiler/quantize/convert_model.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct ConvertOptions
{
    CommonOptions common;
    std::string model, output;
};

int convertModel(const ConvertOptions& options)
{
    if (!options.output.ends_with(".onnx"))
        return wrongUsage("-o " + options.output + ": only .onnx is written");
    const auto sizes = importOptions(options.common);
    if (!sizes) return failure(sizes.error());
    const auto opened = openModel(options.model, options.common); // says what it cannot bind
    if (!opened) return failure(opened.error());
    printDiagnostics(opened->loaded->diagnostics);
    if (hasErrors(opened->loaded->diagnostics)) return kBadInput;
    const auto made = compiler::convertToOnnx(options.model, *sizes, options.output);
    if (!made) return failure(inModel(made.error(), options.model));
    if (options.common.json)
        printJson({{"model", options.model},
                   {"output", options.output},
                   {"bytes", made->bytes},
                   {"nodes", made->nodes},
                   {"operators", made->operators},
                   {"opset", made->opset}});
    else
        print("wrote " + options.output + ": " + std::to_string(made->nodes) + " nodes of " +
              std::to_string(made->operators.size()) + " operators, opset " +
              std::to_string(made->opset) + "\n");
    return kSuccess;
}

} // namespace

void addConvert(CLI::App& app, Action& action)
{
    auto options = std::make_shared<ConvertOptions>();
    CLI::App* command = app.add_subcommand(
        "convert",
        "a model as one ONNX file: TensorFlow Lite as ONNX, weights inside, sizes bound");
    command->add_option("MODEL", options->model, "TensorFlow Lite model of 32-bit floats, or ONNX")
        ->required();
    command->add_option("-o,--output", options->output, "the ONNX file to write")->required();
    addModelOptions(*command, options->common);
    command->callback(
        [options, &action] { action = [options](JobContext&) { return convertModel(*options); }; });
}

} // namespace tenon::cli
