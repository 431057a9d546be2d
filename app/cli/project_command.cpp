// SPDX-License-Identifier: Apache-2.0
// tenon project: folders that make firmware of a model: create, build, flash, run.
#include "app/cli/command.h"
#include "app/cli/execution.h"
#include "app/cli/open_for_build.h"
#include "app/cli/pool_options.h"
#include "app/cli/run_report.h"
#include "app/cli/server_report.h"
#include "app/runs/project_run.h"
#include "app/runs/read_inputs.h"
#include "compiler/frontend/importer.h"
#include "compiler/package/project_folder.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct ProjectOptions
{
    CommonOptions common;
    std::string model;
    std::string folder;
    std::string project;
    compiler::PoolLists pools;
    std::vector<std::string> inputs;
    OutputsReport report;
    bool isServed = false;
    std::string serial;
    int baud = 115200;
    int number = 0;
};

std::string templatesText()
{
    std::vector<std::string> names;
    for (const compiler::ProjectTemplate* each : compiler::allProjectTemplates())
        names.push_back(std::string(each->name) + " (" + std::string(each->title) + ")");
    return join(names, ", ");
}

int create(const ProjectOptions& options, bool hasTarget, JobContext& job)
{
    const auto project = compiler::projectTemplate(options.project);
    if (!project) return wrongUsage(project.error().message);
    CommonOptions common = options.common;
    if (!hasTarget) common.target = (*project)->target;
    auto opened = openForBuild(options.model, common);
    if (!opened) return failure(opened.error());
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    compiler::CompileOptions how = compileOptions(common);
    if (Status named = compiler::namePools(options.pools, how); !named)
        return failure(named.error());
    const auto result = compileOpened(opened->loaded, how, job, opened->ms);
    if (!result) return failure(withProposal(result.error(), options.model, *opened, common));
    noteChoices(**result, common.verbosity);
    const Status written = compiler::writeProject(**result, **project, options.folder);
    if (!written) return failure(written.error());
    if (common.json)
        printJson({{"project", options.folder},
                   {"template", options.project},
                   {"target", (*result)->target.text()}});
    else
        print("project   " + options.folder + "\ntemplate  " + options.project + "\ntarget    " +
              (*result)->target.text() + "\nnext      tenon project build " + options.folder +
              "\n");
    return kSuccess;
}

int makeAndPrint(const ProjectOptions& options, const std::string& what)
{
    const auto project = runs::openProject(options.folder);
    if (!project) return failure(project.error());
    const auto done = runs::makeProject(*project, what);
    if (!done) return failure(done.error());
    print(*done);
    return kSuccess;
}

Result<remote::NamedTensors> inputsFor(const Manifest& manifest, const ProjectOptions& options)
{
    if (options.inputs.empty()) {
        printDiagnostic(Diagnostic{Severity::Note,
                                   DiagnosticCode::BadArgument,
                                   "no --inputs were given; the inputs are made up",
                                   {},
                                   {}});
        return remote::madeUpInputs(manifest);
    }
    return runs::readInputs(manifest.inputs, options.inputs);
}

/// The line to the project's server: of the given port, or of what `serve.sh` starts.
Result<std::unique_ptr<remote::MicroLine>> openLine(const runs::Project& project,
                                                    const ProjectOptions& options)
{
    if (!project.project->serves)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "projects of " + core::quoted(project.facts.project) + " have no server",
                         {.file = project.folder});
    if (!options.serial.empty()) return remote::openSerialLine(options.serial, options.baud);
    if (const auto built = runs::makeProject(project, "server"); !built) return built.error();
    if (Status found = runs::needTools(project, project.project->runTools); !found)
        return found.error();
    return remote::startProgramLine(project.file("../serve.sh"));
}

/// One inference on the board's server, and what it measured.
int runServed(const ProjectOptions& options, JobContext& job)
{
    const auto project = runs::openProject(options.folder);
    if (!project) return failure(project.error());
    const Manifest& manifest = project->facts.manifest;
    const auto inputs = inputsFor(manifest, options);
    if (!inputs) return failure(inputs.error());
    auto line = openLine(*project, options);
    if (!line) return failure(line.error());
    const remote::Patience start{.timeout = std::chrono::seconds(10), .job = &job};
    const auto model = remote::MicroModel::open(std::move(*line), manifest.moduleName, start);
    if (!model) return failure(model.error());
    (*model)->setPatience({.job = &job});
    std::vector<Tensor> values;
    for (const auto& [name, tensor] : *inputs) values.push_back(tensor);
    const auto outputs = (*model)->infer(values);
    if (!outputs) return failure(outputs.error());
    auto measured = measureServer(**model, options.number);
    if (!measured) return failure(measured.error());
    if (options.serial.empty()) measured->instructionNs = project->project->instructionNs;
    OutputsReport report = options.report;
    report.isJson = options.common.json;
    if (report.isJson) report.more = {{"server", serverJson(manifest, *measured)}};
    const int told =
        tellOutputs(manifest, *outputs, {"server of " + project->facts.project, {}}, report);
    if (!report.isJson) print(serverText(manifest, *measured));
    return told;
}

int runProject(const ProjectOptions& options, JobContext& job)
{
    if (options.isServed || !options.serial.empty()) return runServed(options, job);
    const auto project = runs::openProject(options.folder);
    if (!project) return failure(project.error());
    if (!project->project->feedsFiles) return makeAndPrint(options, "run");
    const Manifest& manifest = project->facts.manifest;
    const auto inputs = inputsFor(manifest, options);
    if (!inputs) return failure(inputs.error());
    const auto outputs = runs::runProject(*project, *inputs);
    if (!outputs) return failure(outputs.error());
    OutputsReport report = options.report;
    report.isJson = options.common.json;
    return tellOutputs(manifest, *outputs, {"project " + project->facts.project, {}}, report);
}

void addCreate(CLI::App& parent, const std::shared_ptr<ProjectOptions>& options, Action& action)
{
    CLI::App* command = parent.add_subcommand("create", "compile a model into a new project");
    command->add_option("MODEL", options->model, compiler::modelFilesText())->required();
    command->add_option("DIR", options->folder, "new folder")->required();
    command->add_option("--template", options->project, templatesText())->required();
    addCompileOptions(*command, options->common);
    addPoolOptions(*command, options->pools);
    CLI::Option* target = command->get_option("--target");
    command->callback([options, target, &action] {
        const bool hasTarget = target->count() > 0;
        action = [options, hasTarget](JobContext& job) { return create(*options, hasTarget, job); };
    });
}

} // namespace

void addProject(CLI::App& app, Action& action)
{
    auto options = std::make_shared<ProjectOptions>();
    CLI::App* command = app.add_subcommand(
        "project", "folders that make firmware of a model: create, build, flash, run");
    command->require_subcommand(1);
    addCreate(*command, options, action);
    const auto add = [&](const char* name, const char* help, auto work) {
        CLI::App* part = command->add_subcommand(name, help);
        part->add_option("DIR", options->folder, "the project's folder")->required();
        part->callback([options, work, &action] {
            action = [=](JobContext& job) { return work(*options, job); };
        });
        return part;
    };
    add("build", "compile and link it, as `make` does",
        [](const ProjectOptions& o, JobContext&) { return makeAndPrint(o, "all"); });
    add("flash", "put it on the board, as `make flash` does",
        [](const ProjectOptions& o, JobContext&) { return makeAndPrint(o, "flash"); });
    CLI::App* run = add("run", "one inference, as `make run` does", runProject);
    run->add_option("--inputs", options->inputs, "folder or files: .pb, .npy, .npz");
    run->add_option("--outputs", options->report.folder, "folder for output_N.pb and output_N.npy");
    run->add_option("--print-top", options->report.top,
                    "print the K largest elements of each output");
    run->add_flag("--server", options->isServed,
                  "by the on-device RPC server, as `make server` and serve.sh start it");
    run->add_option("--serial", options->serial,
                    "by the server of a board on this serial port, such as /dev/ttyACM0");
    run->add_option("--baud", options->baud, "speed of the port")->capture_default_str();
    run->add_option("--number", options->number,
                    "with a server: time so many inferences on the board's clock")
        ->check(CLI::Range(0, 1000000));
    run->add_flag("--json", options->common.json, "print JSON");
}

} // namespace tenon::cli
