// SPDX-License-Identifier: Apache-2.0
// tenon project: folders that make firmware of a model: create, build, flash, run.
#include "app/cli/command.h"
#include "app/cli/execution.h"
#include "app/cli/open_for_build.h"
#include "app/cli/pool_options.h"
#include "app/cli/run_report.h"
#include "app/cli/server_report.h"
#include "compiler/frontend/importer.h"
#include "compiler/package/project_folder.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/tool.h"
#include "remote/measure/made_up_inputs.h"

#include <cstring>
#include <filesystem>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

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

/// A project that is there, and its template.
struct Project
{
    std::string folder;
    compiler::ProjectFacts facts;
    const compiler::ProjectTemplate* project = nullptr;

    std::string file(const std::string& name) const { return folder + "/build/" + name; }
};

Result<Project> openProject(const std::string& folder)
{
    auto facts = compiler::readProject(folder);
    if (!facts) return facts.error();
    const auto project = compiler::projectTemplate(facts->project);
    if (!project) return project.error();
    return Project{folder, std::move(*facts), *project};
}

Status needTools(const Project& project, std::span<const compiler::ProjectTool> tools)
{
    for (const compiler::ProjectTool& tool : tools)
        if (!hasTool(std::string(tool.program)))
            return makeError(DiagnosticCode::UnsupportedFeature,
                             std::string(tool.program) + " is not installed, which projects of " +
                                 core::quoted(project.facts.project) + " need; install " +
                                 std::string(tool.from),
                             {.file = project.folder});
    return kDone;
}

/// One of the Makefile's targets; what it printed.
Result<std::string> make(const Project& project, const std::string& what)
{
    if (Status found = needTools(project, project.project->buildTools); !found)
        return found.error();
    if (what != "all")
        if (Status found = needTools(project, project.project->runTools); !found)
            return found.error();
    auto done = runTool({"make", "-C", project.folder, "--no-print-directory", what});
    if (done) return done;
    Diagnostic error = done.error();
    error.location.file = project.folder + "/Makefile";
    return error;
}

int makeAndPrint(const ProjectOptions& options, const std::string& what)
{
    const auto project = openProject(options.folder);
    if (!project) return failure(project.error());
    const auto done = make(*project, what);
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
    auto given = readTensors(options.inputs);
    if (!given) return given.error();
    return assignInputs(manifest.inputs, *given);
}

/// One inference, nothing measured, and the bytes of the inputs.
Status writeRequest(const Project& project, const remote::NamedTensors& inputs)
{
    const int32_t counts[] = {1, 0, 0};
    std::string request(reinterpret_cast<const char*>(counts), sizeof counts);
    for (const auto& [name, tensor] : inputs) {
        const auto bytes = tensor.bytes();
        request.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::error_code ignored;
    fs::create_directories(project.folder + "/build", ignored);
    fs::remove(project.file("output"), ignored);
    return writeFileAtomically(project.file("request"), request);
}

Result<std::vector<Tensor>> readOutputs(const Project& project)
{
    const auto bytes = readFile(project.file("output"));
    if (!bytes) return bytes.error();
    std::vector<Tensor> out;
    size_t at = 0;
    for (const ManifestTensor& spec : project.facts.manifest.outputs) {
        const auto dtype = parseDataType(spec.dtype);
        if (!dtype) return dtype.error();
        const auto size = static_cast<size_t>(elementCount(spec.shape) * dtype->bytes());
        if (size > bytes->size() - at)
            return makeError(DiagnosticCode::BoardFailure, "the run wrote too few outputs",
                             {.file = project.file("output")});
        out.push_back(Tensor::make(*dtype, spec.shape, [&](std::span<std::byte> to) {
            if (size > 0) std::memcpy(to.data(), bytes->data() + at, size);
        }));
        at += size;
    }
    return out;
}

/// The line to the project's server: of the given port, or of what `serve.sh` starts.
Result<std::unique_ptr<remote::MicroLine>> openLine(const Project& project,
                                                    const ProjectOptions& options)
{
    if (!project.project->serves)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "projects of " + core::quoted(project.facts.project) +
                             " have no server; those of baremetal-mps2 and crt-host have",
                         {.file = project.folder});
    if (!options.serial.empty()) return remote::openSerialLine(options.serial, options.baud);
    if (const auto built = make(project, "server"); !built) return built.error();
    if (Status found = needTools(project, project.project->runTools); !found) return found.error();
    return remote::startProgramLine(project.file("../serve.sh"));
}

/// One inference on the board's server, and what it measured.
int runServed(const ProjectOptions& options, JobContext& job)
{
    const auto project = openProject(options.folder);
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
    const auto project = openProject(options.folder);
    if (!project) return failure(project.error());
    if (!project->project->feedsFiles) return makeAndPrint(options, "run");
    const Manifest& manifest = project->facts.manifest;
    const auto inputs = inputsFor(manifest, options);
    if (!inputs) return failure(inputs.error());
    if (Status written = writeRequest(*project, *inputs); !written) return failure(written.error());
    if (const auto ran = make(*project, "run"); !ran) return failure(ran.error());
    const auto outputs = readOutputs(*project);
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
