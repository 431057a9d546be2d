// SPDX-License-Identifier: Apache-2.0
// tenon relay: works on graph IR text directly: parse, verify, run passes, print.
#include "app/cli/command.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct RelayOptions
{
    CommonOptions common;
    std::string path;
    std::string stopAfter;
    bool runsPasses = false;
};

int workOnRelay(const RelayOptions& options, JobContext& job)
{
    auto opened = openModel(options.path, options.common);
    if (!opened) return failure(opened.error());
    printDiagnostics(opened->loaded->diagnostics);
    if (hasErrors(opened->loaded->diagnostics)) return kBadInput;
    Module module = opened->loaded->module;
    if (const std::vector<Diagnostic> broken = verifyModule(module); hasErrors(broken)) {
        printDiagnostics(broken);
        return kBadInput;
    }
    if (options.runsPasses || !options.stopAfter.empty()) {
        compiler::CompileOptions compile = compileOptions(options.common);
        compile.stopBeforeCodegen = true;
        compile.passes.stopAfter = options.stopAfter;
        auto result = compileOpened(opened->loaded, compile, job, opened->ms);
        if (!result) return failure(inModel(result.error(), options.path));
        module = (*result)->passes.last();
    }
    const std::string text = printModule(module);
    if (options.common.json)
        printJson({{"file", options.path}, {"text", text}});
    else
        print(text);
    return kSuccess;
}

} // namespace

void addRelay(CLI::App& app, Action& action)
{
    auto options = std::make_shared<RelayOptions>();
    CLI::App* command = app.add_subcommand("relay", "check, transform or print graph-IR text");
    command->add_option("FILE", options->path, "graph-IR text, or a model to print as such")
        ->required();
    addCompileOptions(*command, options->common);
    command->add_flag("--passes", options->runsPasses, "run the pipeline first");
    command->add_option("--stop-after", options->stopAfter, "pass or phase to stop behind");
    command->callback([options, &action] {
        action = [options](JobContext& job) { return workOnRelay(*options, job); };
    });
}

} // namespace tenon::cli
