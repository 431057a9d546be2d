// SPDX-License-Identifier: Apache-2.0
// tenon compile: a model into one artifact, or its kernels as text.
#include "app/cli/command.h"
#include "app/cli/open_for_build.h"
#include "app/cli/pool_options.h"
#include "app/cli/short_title.h"
#include "compiler/driver/kernel_service.h"
#include "compiler/frontend/importer.h"
#include "compiler/passes/error/expected_error.h"
#include "compiler/passes/layout/winograd_choice.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/target/ignored_options.h"
#include "remote/session/file_digest.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct CompileCommandOptions
{
    CommonOptions common;
    std::string model;
    std::string output;
    std::string format;
    std::string emit;
    std::string interfaceApi = "packed";
    std::string runtime;
    bool unpackedApi = false;
    bool useWorkspaceIo = false;
    compiler::PoolLists pools;
};

bool isSource(const CompileCommandOptions& options)
{
    const auto target = parseTarget(options.common.target);
    const compiler::BackEnd* backEnd = target ? compiler::findBackEnd(*target) : nullptr;
    return backEnd && backEnd->sources;
}

compiler::CInterface interfaceOf(const CompileCommandOptions& options)
{
    if (options.interfaceApi == "c") return compiler::CInterface::Structs;
    return options.unpackedApi ? compiler::CInterface::Unpacked : compiler::CInterface::Packed;
}

/// Options of tvmc that are read so that its command lines work, where they change nothing.
void warnIgnored(const CompileCommandOptions& options)
{
    const bool hasChoice = isSource(options) && options.common.executor != "graph";
    const auto warn = [](const std::string& what, std::string_view why) {
        printDiagnostic(noEffect(what, why));
    };
    constexpr std::string_view kPackedOnly =
        "only C source with the AOT executor has the choice; all else follows TVM's packed calls";
    if (!hasChoice && options.interfaceApi != "packed")
        warn("--interface-api " + options.interfaceApi, kPackedOnly);
    if (!hasChoice && options.unpackedApi) warn("--unpacked-api", kPackedOnly);
    if (!options.runtime.empty())
        warn("--runtime " + options.runtime,
             "libraries run with TVM's runtime in C++ and with Tenon's, C source needs none");
}

std::vector<std::string> sourceNames(const compiler::CompileResult& result, int kernel)
{
    std::vector<std::string> names;
    for (const compiler::KernelCall& call : result.program.calls)
        if (call.kernel == kernel)
            names.insert(names.end(), call.fromNodes.begin(), call.fromNodes.end());
    return names;
}

Json kernelsJson(const compiler::CompileResult& result)
{
    Json out = Json::array();
    for (size_t i = 0; i < result.kernels.size(); ++i) {
        const compiler::CompiledKernel& kernel = result.kernels[i];
        out.push_back({{"symbol", kernel.symbol},
                       {"name", compiler::titleOfKernel(result.program, static_cast<int>(i))},
                       {"function", kernel.function},
                       {"tir_hash", kernel.tirHash},
                       {"rule", kernel.scheduleRule},
                       {"refusal", kernel.refusal},
                       {"bytes", kernel.object ? kernel.object->size() : 0},
                       {"from_cache", kernel.fromCache},
                       {"ms", kernel.compileMs},
                       {"from_nodes", sourceNames(result, static_cast<int>(i))}});
    }
    return out;
}

/// In the order in which they run.
Json callsJson(const compiler::CompileResult& result)
{
    Json out = Json::array();
    for (const compiler::KernelCall& call : result.program.calls) {
        const ManifestCall described = compiler::describedCall(result.program, call);
        Json row{{"call", call.name},
                 {"name", described.shownTitle()},
                 {"from_nodes", call.fromNodes},
                 {"macs", call.macs},
                 {"flops", described.flops},
                 {"moved_bytes", described.movedBytes},
                 {"weight_bytes", described.weightBytes},
                 {"method", methodText(call.method, call.refusal)}};
        if (call.kernel >= 0)
            row["symbol"] = result.program.kernels[static_cast<size_t>(call.kernel)].symbol;
        out.push_back(std::move(row));
    }
    return out;
}

/// Null for a folder of C sources.
Json sha256Json(const std::string& path)
{
    const Result<std::string> digest = remote::fileSha256(path);
    return digest ? Json(*digest) : Json();
}

/// What rounding is expected to do, relative to the largest result: of the model, and by layer.
Json errorJson(const compiler::CompileResult& result)
{
    const compiler::ExpectedError error = compiler::expectedError(result.passes);
    Json layers = Json::array();
    const Module& lowered = result.passes.last();
    for (const compiler::KernelCall& call : result.program.calls)
        if (const auto layer = compiler::errorOfCall(error, lowered, call.node))
            layers.push_back({{"call", call.name},
                              {"name", call.title.text()},
                              {"from_nodes", call.fromNodes},
                              {"method", methodText(call.method, call.refusal)},
                              {"relative_error", layer->own},
                              {"share", layer->share},
                              {"refused", layer->refused}});
    return {{"output", error.total}, {"layers", std::move(layers)}};
}

std::string errorLine(const compiler::CompileResult& result)
{
    const double error = compiler::expectedError(result.passes).total;
    if (error == 0) return {};
    return "error     " + compiler::errorText(error) +
           " of the largest result expected by rounding\n";
}

Json compileJson(const compiler::CompileResult& result, const compiler::PackageReport& report,
                 const std::string& output)
{
    const compiler::CompilePhases& phases = result.phases;
    const double link = report.glueMs + report.dataMs + report.linkMs;
    const ManifestMemory& memory = report.manifest.memory;
    int64_t programMacs = 0;
    for (const compiler::KernelCall& call : result.program.calls) programMacs += call.macs;
    Json bounds = Json::object();
    for (const auto& [name, range] : report.manifest.bounds) bounds[name] = boundsText(range);
    return {{"output", output},
            {"target", result.target.text()},
            {"threads", result.threads.count},
            {"threads_from", result.threads.text()},
            {"executor", compiler::executorName(result.options.executor)},
            {"file_bytes", report.fileBytes},
            {"sha256", sha256Json(output)},
            {"unchanged", report.isUnchanged},
            {"kernels", kernelsJson(result)},
            {"calls", callsJson(result)},
            {"expected_error", errorJson(result)},
            {"kernel_count", result.kernels.size()},
            {"call_count", result.program.calls.size()},
            {"program_macs", programMacs},
            {"phases",
             {{"import_ms", phases.importMs},
              {"passes_ms", phases.passesMs},
              {"lower_ms", phases.lowerMs},
              {"codegen_ms", phases.codegenMs},
              {"plan_ms", phases.planMs},
              {"link_ms", link},
              {"total_ms", phases.totalMs + link}}},
            {"memory",
             {{"workspace_bytes", memory.workspaceBytes},
              {"kernel_workspace_bytes", memory.kernelWorkspaceBytes},
              {"constant_bytes", memory.constantBytes},
              {"io_bytes", memory.ioBytes},
              {"lower_bound_bytes", memory.lowerBoundBytes},
              {"values_at_run_time", result.memory.atRunTime}}},
            {"bounds", std::move(bounds)}};
}

/// What the hungriest kernel takes while it runs.
std::string scratchText(const ManifestMemory& memory)
{
    if (memory.kernelWorkspaceBytes == 0) return {};
    return " and scratch of one kernel " +
           bytesText(static_cast<uint64_t>(memory.kernelWorkspaceBytes));
}

/// Values that are not in the plan of a VM program.
std::string runTimeText(int values)
{
    if (values == 0) return {};
    return ", more at run time for " + std::to_string(values) +
           (values == 1 ? " value" : " values");
}

std::string compileText(const compiler::CompileResult& result,
                        const compiler::PackageReport& report, const std::string& output,
                        bool listsKernels)
{
    const compiler::CompilePhases& phases = result.phases;
    size_t cached = 0;
    for (const compiler::CompiledKernel& kernel : result.kernels) cached += kernel.fromCache;
    const double link = report.glueMs + report.dataMs + report.linkMs;
    const ManifestMemory& memory = report.manifest.memory;
    std::string out = table(
        {{"output", output + " (" + bytesText(static_cast<uint64_t>(report.fileBytes)) +
                        (report.isUnchanged ? ", as it was)" : ")")},
         {"target", result.target.text()},
         {"threads", " " + result.threads.text()},
         {"executor", std::string(compiler::executorName(result.options.executor))},
         {"kernels", " " + std::to_string(result.kernels.size()) + ", " + std::to_string(cached) +
                         " from the cache, " + std::to_string(result.program.calls.size()) +
                         " calls"},
         {"phases", "import " + fixed(phases.importMs, 1) + ", passes " +
                        fixed(phases.passesMs, 1) + ", codegen " + fixed(phases.codegenMs, 1) +
                        ", plan " + fixed(phases.planMs, 1) + ", link " + fixed(link, 1) +
                        ", total " + fixed(phases.totalMs + link, 1) + " ms"},
         {"memory", "workspace " + bytesText(static_cast<uint64_t>(memory.workspaceBytes)) +
                        " (bound " + bytesText(static_cast<uint64_t>(memory.lowerBoundBytes)) +
                        ")" + scratchText(memory) + runTimeText(result.memory.atRunTime) +
                        ", constants " + bytesText(static_cast<uint64_t>(memory.constantBytes)) +
                        ", inputs and outputs " +
                        bytesText(static_cast<uint64_t>(memory.ioBytes))}});
    for (const auto& [name, range] : report.manifest.bounds)
        out += "size      " + name + " = " + boundsText(range) + "; memory is for the largest\n";
    if (listsKernels) out += errorLine(result);
    if (!listsKernels && cached == result.kernels.size()) return out;
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 0; i < result.kernels.size(); ++i)
        if (const compiler::CompiledKernel& kernel = result.kernels[i];
            listsKernels || !kernel.fromCache)
            rows.push_back(
                {"  " + kernel.symbol,
                 shortTitle(compiler::titleOfKernel(result.program, static_cast<int>(i))),
                 fixed(kernel.compileMs, 1) + " ms", kernel.fromCache ? "cached" : "compiled"});
    return out + "\n" + table(rows);
}

Result<std::string> emittedText(const compiler::CompileResult& result, const std::string& form)
{
    std::string out;
    for (size_t i = 0; i < result.kernels.size(); ++i) {
        const compiler::CompiledKernel& kernel = result.kernels[i];
        out += "; " + kernel.symbol + " " + kernel.function + "\n; " +
               compiler::titleOfKernel(result.program, static_cast<int>(i)) + "\n";
        if (form == "tir") {
            out += kernel.scheduledText + "\n";
            continue;
        }
        auto text = compiler::kernelText(result, i,
                                         form == "llvm" ? compiler::KernelText::LlvmIr
                                                        : compiler::KernelText::Assembly);
        if (!text) return text.error();
        out += *text + "\n";
    }
    return out;
}

/// The code of a `c` target: everything but the weights.
Result<std::string> emittedC(const compiler::CompileResult& result,
                             const CompileCommandOptions& options)
{
    if (!result.machine.backEnd->sources)
        return makeError(DiagnosticCode::BadArgument, "--emit c needs --target c");
    auto sources = compiler::programSources(result, interfaceOf(options));
    if (!sources) return sources.error();
    std::string out;
    for (const compiler::SourceFile& source : *sources)
        if (!source.path.ends_with("_lib1.c")) out += "/* " + source.path + " */\n" + source.text;
    return out;
}

int emitKernels(const compiler::CompileResult& result, const CompileCommandOptions& options)
{
    auto text = options.emit == "c" ? emittedC(result, options) : emittedText(result, options.emit);
    if (!text) return failure(text.error());
    if (options.output.empty() || options.output == "-") {
        print(*text);
        return kSuccess;
    }
    const Status written = writeFileAtomically(options.output, *text);
    return written ? kSuccess : failure(written.error());
}

/// What --output-format says where the suffix does not: archives of both kinds may end in .tar.
std::optional<compiler::OutputFormat> formatOf(const CompileCommandOptions& options)
{
    if (options.format == "mlf") return compiler::OutputFormat::ModelLibrary;
    return std::nullopt;
}

/// With --output-format as its suffix where it has another.
std::string outputPath(const CompileCommandOptions& options)
{
    using compiler::OutputFormat;
    if (formatOf(options)) {
        const auto bySuffix = compiler::outputFormatOf(options.output);
        const bool isArchive =
            bySuffix && (*bySuffix == OutputFormat::ModelLibrary || *bySuffix == OutputFormat::Tar);
        return options.output +
               std::string(isArchive ? "" : compiler::suffixOf(OutputFormat::ModelLibrary));
    }
    const std::string suffix = options.format.empty() ? "" : "." + options.format;
    return options.output.ends_with(suffix) ? options.output : options.output + suffix;
}

/// With the memories that the emitted code takes.
Result<compiler::CompileOptions> howToCompile(const CompileCommandOptions& options)
{
    compiler::CompileOptions how = compileOptions(options.common);
    if (Status named = compiler::namePools(options.pools, how); !named) return named.error();
    if (options.useWorkspaceIo) how.passConfig.emplace_back("tir.usmp.use_workspace_io=1");
    return how;
}

int compileModel(const CompileCommandOptions& options, JobContext& job)
{
    if (options.output.empty() && options.emit.empty())
        return wrongUsage("compile needs -o OUT (.so, .o, .tar, .mlf.tar, .wasm or .elf; a folder "
                          "for C) or --emit");
    if (options.common.json && !options.emit.empty())
        return wrongUsage("--emit prints code; leave out --json");
    const std::string output = outputPath(options);
    if (options.emit.empty() && !isSource(options))
        if (auto format = compiler::outputFormatOf(output); !format)
            return wrongUsage(format.error().message);
    warnIgnored(options);
    auto opened = openForBuild(options.model, options.common);
    if (!opened) return failure(opened.error());
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    auto chosen = howToCompile(options);
    if (!chosen) return failure(chosen.error());
    compiler::CompileOptions& how = *chosen;
    if (!options.emit.empty()) {
        how.service = compiler::schedulingKernelService(); // texts need no objects
        how.cacheFolder.clear();                           // what it holds has them
    }
    auto result = compileOpened(opened->loaded, how, job, opened->ms);
    if (!result)
        return failure(withProposal(result.error(), options.model, *opened, options.common));
    noteChoices(**result, options.common.verbosity);
    if (!options.emit.empty()) return emitKernels(**result, options);

    job.progress(0.95, "writing " + output);
    auto report = compiler::writeProgram(**result, interfaceOf(options), output, formatOf(options));
    if (!report) return failure(report.error());
    job.progress(1, "done");
    if (options.common.json)
        printJson(compileJson(**result, *report, output));
    else
        print(compileText(**result, *report, output, options.common.verbosity > 0));
    return kSuccess;
}

} // namespace

void addCompile(CLI::App& app, Action& action)
{
    auto options = std::make_shared<CompileCommandOptions>();
    CLI::App* command = app.add_subcommand(
        "compile", "compile a model into .so, .o, .tar, .mlf.tar, .wasm or .elf");
    command->add_option("MODEL", options->model, compiler::modelFilesText())->required();
    command->add_option("-o,--output", options->output,
                        "file to write; its suffix is the format; -: text goes to stdout");
    command
        ->add_option("--output-format", options->format,
                     "appended to the output where that ends otherwise")
        ->check(CLI::IsMember({"so", "o", "tar", "mlf", "wasm", "elf"}));
    addCompileOptions(*command, options->common);
    command->add_option("--emit", options->emit, "print the kernels instead")
        ->check(CLI::IsMember({"tir", "llvm", "asm", "c"}));
    command
        ->add_option("--interface-api", options->interfaceApi,
                     "of C source: packed, or c for structs of pointers")
        ->check(CLI::IsMember({"packed", "c"}));
    command->add_flag("--unpacked-api", options->unpackedApi,
                      "of C source: the run function takes the pointers themselves");
    addPoolOptions(*command, options->pools);
    command->add_flag("--use-workspace-io", options->useWorkspaceIo,
                      "plan inputs and outputs into the workspace, too; with --interface-api c");
    command->add_option("--runtime", options->runtime, "accepted for tvmc's sake; has no effect")
        ->check(CLI::IsMember({"cpp", "crt"}));
    command->callback([options, &action] {
        action = [options](JobContext& job) { return compileModel(*options, job); };
    });
}

} // namespace tenon::cli
