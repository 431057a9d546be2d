// SPDX-License-Identifier: Apache-2.0
// tenon tir: works on loop IR text directly: parse, verify, schedule, lower, print, or compile into
// a library.
#include "app/cli/command.h"
#include "compiler/codegen/back_end.h"
#include "compiler/driver/compile_function.h"
#include "compiler/driver/machine_facts.h"
#include "compiler/driver/target_cores.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/rules.h"
#include "compiler/schedule/schedule.h"
#include "core/base/file.h"
#include "core/base/processors.h"
#include "core/base/text.h"
#include "core/ir/tir/access_check.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/type_check.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

struct TirOptions
{
    CommonOptions common;
    std::string path;
    std::string schedule;
    std::string emit = "tir";
    std::string output;
    bool usesRules = false;
};

Diagnostic inFile(Diagnostic error, const std::string& path)
{
    error.location.file = path;
    return error;
}

/// A trace file's content; what is no file is the trace itself.
std::string traceText(const std::string& argument)
{
    auto content = readFile(argument);
    return content ? *content : argument;
}

Result<tir::PrimFunc> scheduled(const TirOptions& options, const tir::PrimFunc& function,
                                const TargetFacts& facts, std::string& trace)
{
    if (options.usesRules) {
        auto result = compiler::scheduleKernel(function, facts);
        if (!result) return result.error();
        for (const compiler::TraceStep& step : result->trace) trace += step.text() + "\n";
        return result->function;
    }
    if (options.schedule.empty()) return function;
    compiler::Schedule schedule(function);
    if (Status done = schedule.replay(traceText(options.schedule)); !done) return done.error();
    return schedule.function();
}

Result<std::string> emitted(const TirOptions& options, const tir::PrimFunc& function,
                            const compiler::MachineSpec& machine, const TargetFacts& facts)
{
    if (options.emit == "tir") return tir::print(function);
    auto lowered = compiler::lowerToLoops(function);
    if (!lowered) return lowered.error();
    if (options.emit == "lowered") return tir::print(*lowered);
    const compiler::BackEnd& backEnd = *machine.backEnd;
    if ((options.emit == "c") != (backEnd.sources != nullptr))
        return makeError(DiagnosticCode::BadArgument,
                         "code for " + core::quoted(options.common.target) +
                             " is shown by --emit " + (backEnd.sources ? "c" : "llvm or asm"));
    if (backEnd.sources) {
        lowered->attrs.set("vector_bytes", int64_t{facts.vectorBytes});
        auto kernel = backEnd.sources->writeKernel(*lowered, function.name);
        return kernel ? Result<std::string>(std::move(kernel->text)) : kernel.error();
    }
    const compiler::EmitForm form =
        options.emit == "llvm" ? compiler::EmitForm::LlvmIr : compiler::EmitForm::Assembly;
    return backEnd.objects->emitKernel({*lowered, function.name, facts.vectorBytes}, machine, form);
}

/// For the target's back end: a folder where it writes sources, else by the path's suffix.
Result<compiler::OutputFormat> formatOf(const TirOptions& options,
                                        const compiler::MachineSpec& machine)
{
    auto format = compiler::outputFormatOf(options.output);
    return !format && machine.backEnd->sources ? compiler::OutputFormat::Folder : format;
}

int writeLibrary(const TirOptions& options, const tir::PrimFunc& function,
                 const compiler::MachineSpec& machine, JobContext& job)
{
    const auto format = formatOf(options, machine);
    if (!format) return wrongUsage(format.error().message);
    auto result = compiler::compileFunction(function, *format, compileOptions(options.common), job);
    if (!result) return failure(inFile(result.error(), options.path));
    printDiagnostics((*result)->remarks);
    auto report = compiler::writeProgram(**result, compiler::CInterface::Packed, options.output);
    if (!report) return failure(report.error());
    const std::string_view executor = compiler::executorName((*result)->options.executor);
    if (options.common.json)
        printJson({{"function", function.name},
                   {"output", options.output},
                   {"target", (*result)->target.text()},
                   {"executor", executor},
                   {"exports", report->exports},
                   {"file_bytes", report->fileBytes}});
    else
        print(table({{"output", options.output + " (" +
                                    bytesText(static_cast<uint64_t>(report->fileBytes)) + ")"},
                     {"function", function.name},
                     {"target", (*result)->target.text()},
                     {"executor", std::string(executor)}}));
    return kSuccess;
}

Status checked(const tir::PrimFunc& function)
{
    if (Status fine = tir::verify(function); !fine) return fine;
    return tir::checkTypes(function);
}

/// Code that others call stays inside its buffers.
Status provenInside(const TirOptions& options, const tir::PrimFunc& function)
{
    const Status inside = tir::checkAccesses(function);
    if (inside) return kDone;
    Diagnostic error = inFile(inside.error(), options.path);
    error.message += "; guard it with T.if_then_else, T.min and T.max";
    return error;
}

int workOnTir(const TirOptions& options, JobContext& job)
{
    auto text = readFile(options.path);
    if (!text) {
        printDiagnostic(text.error());
        return kBadInput;
    }
    auto function = tir::parsePrimFunc(*text);
    if (!function) return failure(inFile(function.error(), options.path));
    if (const Status fine = checked(*function); !fine) {
        printDiagnostic(inFile(fine.error(), options.path));
        return kBadInput;
    }
    auto target = parseTarget(options.common.target);
    if (!target) return failure(target.error());
    auto machine = compiler::machineSpec(*target);
    if (!machine) return failure(machine.error());
    const auto known = compiler::machineFacts(*target, *machine);
    if (!known) return failure(known.error());
    TargetFacts facts = known->facts;
    facts.threads = chooseThreads(*target, {.asked = options.common.threads,
                                            .thisComputer = usableProcessors(),
                                            .hasThreads = compiler::hasThreads(*target)})
                        .count;
    std::string trace;
    auto shaped = scheduled(options, *function, facts, trace);
    if (!shaped) return failure(shaped.error());
    if (!options.output.empty()) {
        const Status inside = provenInside(options, *function); // schedules keep it so
        return inside ? writeLibrary(options, *shaped, *machine, job) : failure(inside.error());
    }
    auto out = emitted(options, *shaped, *machine, facts);
    if (!out) return failure(out.error());
    if (options.common.json)
        printJson({{"function", function->name},
                   {"emit", options.emit},
                   {"text", *out},
                   {"trace", trace}});
    else
        print(*out + (out->ends_with('\n') ? "" : "\n"));
    return kSuccess;
}

} // namespace

void addTir(CLI::App& app, Action& action)
{
    auto options = std::make_shared<TirOptions>();
    CLI::App* command = app.add_subcommand("tir", "check, schedule, print or compile loop-IR text");
    command->add_option("FILE", options->path, "one function as loop-IR text")->required();
    addOutputOptions(*command, options->common);
    command->add_option("--target", options->common.target, "target string")->capture_default_str();
    command->add_option("--schedule", options->schedule, "schedule trace, or a file with one");
    command->add_flag("--rules", options->usesRules, "let the schedule rules choose");
    command->add_option("--threads", options->common.threads,
                        "threads that the loops are shared among; 0: as the target says");
    command->add_option("-o,--output", options->output,
                        "library to write instead of printing; its suffix is the format");
    command->add_option("--emit", options->emit, "what to print")
        ->check(CLI::IsMember({"tir", "lowered", "llvm", "asm", "c"}))
        ->capture_default_str();
    command->callback([options, &action] {
        action = [options](JobContext& job) { return workOnTir(*options, job); };
    });
}

} // namespace tenon::cli
