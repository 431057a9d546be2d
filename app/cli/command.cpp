// SPDX-License-Identifier: Apache-2.0
// What commands share: options, diagnostics on the terminal, opening and compiling a model.
#include "app/cli/command.h"

#include "app/cli/interrupt.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/shape_option.h"
#include "core/base/board_code.h"
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace tenon::cli {
namespace {

std::optional<int64_t> parseInteger(std::string_view text)
{
    int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool isBadInput(DiagnosticCode code)
{
    if (static_cast<uint8_t>(code) >= BoardCode::kFirst) return false;
    switch (code) {
    case DiagnosticCode::BoardFailure:
    case DiagnosticCode::Cancelled:
    case DiagnosticCode::CodegenFailure:
    case DiagnosticCode::InternalBug:
    case DiagnosticCode::InvalidIr:
    case DiagnosticCode::IoFailure:
    case DiagnosticCode::LinkFailure:
    case DiagnosticCode::NumericMismatch:
    case DiagnosticCode::OutOfMemory:
    case DiagnosticCode::RpcFailure:
    case DiagnosticCode::TimedOut: return false;
    default: return true;
    }
}

} // namespace

void addOutputOptions(CLI::App& command, CommonOptions& options)
{
    command.add_flag("--json", options.json, "print one JSON document on stdout");
    command.add_flag("-v,--verbose", options.verbosity, "say more; may be repeated");
}

void addModelOptions(CLI::App& command, CommonOptions& options)
{
    addOutputOptions(command, options);
    command
        .add_option("--shape", options.shapes,
                    "bind dynamic dimensions: NAME=1,3,224,224 for an input, DIM=8 for a "
                    "dimension; DIM=1..8 bounds one that stays dynamic; several as H=8,W=8")
        ->type_name("NAME=DIMS");
    command
        .add_option("--value", options.values,
                    "fix an input to a value that the compiled model then contains: axes=0,2")
        ->type_name("NAME=NUMBERS");
    command
        .add_option(
            "--operators", options.operators,
            "file that declares operators which are not built in, beside MODEL.ops; repeatable")
        ->type_name("FILE");
}

void addCompileOptions(CLI::App& command, CommonOptions& options)
{
    addModelOptions(command, options);
    command.add_option("--target", options.target, "target string, tag or JSON")
        ->capture_default_str();
    command.add_option("--executor", options.executor, "graph, aot or vm")
        ->check(CLI::IsMember({"graph", "aot", "vm"}))
        ->capture_default_str();
    command.add_option("--opt-level", options.optLevel, "0 to 3")
        ->check(CLI::Range(0, 3))
        ->capture_default_str();
    command
        .add_option("--threads", options.threads,
                    "threads to compile for and to run with; 0: as many as the target has cores")
        ->check(CLI::Range(0u, kMostThreads));
    command.add_option("--pass-config", options.passConfig,
                       "KEY=VALUE, for example relay.FuseOps.max_depth=16");
    command.add_option("--disable-pass", options.disabledPasses, "leave out a pass; repeatable")
        ->delimiter(',');
    command.add_option("--usmp-algorithm", options.planner, "memory planner")
        ->capture_default_str();
    command.add_flag("--no-cache", options.noCache, "compile every kernel again");
}

namespace {

/// "1,2" as int64, "0.5" as float64; the import converts to the input's type.
Result<Tensor> parseValue(std::string_view text)
{
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    for (const std::string& part : split(text, ',')) {
        const std::string number(trimmed(part));
        char* end = nullptr;
        numbers.push_back(std::strtod(number.c_str(), &end));
        if (number.empty() || *end != '\0')
            return makeError(DiagnosticCode::BadArgument, core::quoted(number) + " is no number");
        if (const auto integer = parseInteger(number)) integers.push_back(*integer);
    }
    const std::vector<int64_t> shape{static_cast<int64_t>(numbers.size())};
    if (integers.size() == numbers.size()) return Tensor::of<int64_t>(kInt64, shape, integers);
    return Tensor::of<double>(kFloat64, shape, numbers);
}

} // namespace

Result<compiler::ImportOptions> importOptions(const CommonOptions& options)
{
    compiler::ImportOptions out;
    out.operatorFiles = options.operators;
    for (const std::string& entries : options.shapes)
        if (Status read = compiler::readShapeOptions(entries, out); !read) {
            Diagnostic error = read.error();
            error.message = "--shape " + error.message;
            return error;
        }
    for (const std::string& entry : options.values) {
        const size_t equals = entry.rfind('=');
        if (equals == std::string::npos || equals == 0)
            return makeError(DiagnosticCode::BadArgument,
                             "--value " + core::quoted(entry) + " fixes nothing; write NAME=2,3");
        auto value = parseValue(std::string_view(entry).substr(equals + 1));
        if (!value) return value.error();
        out.values[entry.substr(0, equals)] = *std::move(value);
    }
    return out;
}

compiler::CompileOptions compileOptions(const CommonOptions& options)
{
    compiler::CompileOptions out;
    out.target = options.target;
    out.executor = options.executor == "graph" ? compiler::ExecutorKind::Graph
                   : options.executor == "vm"  ? compiler::ExecutorKind::Vm
                                               : compiler::ExecutorKind::Aot;
    out.optLevel = options.optLevel;
    out.passConfig = options.passConfig;
    out.passes.disabled = options.disabledPasses;
    out.planner = options.planner;
    out.cacheFolder = options.noCache ? std::string() : compiler::defaultCacheFolder();
    out.runThreads = options.threads;
    return out;
}

Result<OpenedModel> openModel(const std::string& path, const CommonOptions& options)
{
    auto bindings = importOptions(options);
    if (!bindings) return bindings.error();
    const ComputingScope scope;
    const auto start = std::chrono::steady_clock::now();
    auto loaded = compiler::loadModel(path, *bindings);
    if (!loaded) {
        Diagnostic error = loaded.error();
        // A model that cannot be opened is bad input, not a failed operation.
        if (error.code == DiagnosticCode::IoFailure) error.code = DiagnosticCode::BadModel;
        return error;
    }
    const double ms = millisecondsSince(start);
    return OpenedModel{std::make_shared<const compiler::Loaded>(std::move(*loaded)), ms};
}

void printDiagnostic(const Diagnostic& diagnostic)
{
    std::fprintf(stderr, "%s\n", diagnostic.text().c_str());
}

Result<compiler::CompileResultPtr> compileOpened(std::shared_ptr<const compiler::Loaded> loaded,
                                                 const compiler::CompileOptions& options,
                                                 JobContext& job, double openedMs)
{
    const ComputingScope scope;
    return compiler::compile(std::move(loaded), options, job, openedMs);
}

void noteChoices(const compiler::CompileResult& result, int verbosity)
{
    printDiagnostics(result.remarks);
    if (verbosity > 0) printDiagnostics(compiler::refusalWarnings(result));
    if (result.vmReason.empty()) return;
    printDiagnostic(Diagnostic{Severity::Note,
                               DiagnosticCode::DynamicShape,
                               "the model runs on the vm executor: " + result.vmReason,
                               {},
                               {}});
}

void printDiagnostics(const std::vector<Diagnostic>& diagnostics)
{
    const size_t shown = std::min(diagnostics.size(), kMostLines);
    for (size_t i = 0; i < shown; ++i) printDiagnostic(diagnostics[i]);
    if (shown < diagnostics.size())
        std::fprintf(stderr, "and %zu more; inspect --json lists them\n",
                     diagnostics.size() - shown);
}

Diagnostic inModel(Diagnostic error, const std::string& path)
{
    if (!error.location.node.empty() && error.location.file.empty()) error.location.file = path;
    return error;
}

int failure(const Diagnostic& diagnostic)
{
    printDiagnostic(diagnostic);
    return isBadInput(diagnostic.code) ? kBadInput : kFailed;
}

int wrongUsage(const std::string& message)
{
    std::fprintf(stderr, "error[bad-argument]: %s\n", printable(message).c_str());
    return kWrongUsage;
}

Json diagnosticJson(const Diagnostic& diagnostic)
{
    Json out{{"severity", severityText(diagnostic.severity)},
             {"code", codeText(diagnostic.code)},
             {"message", diagnostic.message},
             {"node", diagnostic.location.node},
             {"op", diagnostic.location.op}};
    if (!diagnostic.location.detail.empty()) out["detail"] = diagnostic.location.detail;
    for (const Diagnostic& note : diagnostic.notes) out["notes"].push_back(diagnosticJson(note));
    return out;
}

Json shapeJson(const Shape& shape)
{
    Json out = Json::array();
    for (const Dim& dim : shape) {
        if (dim.isConst())
            out.push_back(dim.value());
        else
            out.push_back(dim.text());
    }
    return out;
}

void printJson(const Json& document)
{
    const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(const std::string& text)
{
    const std::string shown = printable(text);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
}

namespace {

/// Of UTF-8; each takes one place on the terminal, as near as matters here.
size_t lettersIn(std::string_view text)
{
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

/// "1,024", "12.5 %", "64.00 KiB": a number that has at most a unit behind it, not a sentence.
bool isFigure(std::string_view cell)
{
    constexpr size_t kLongestUnit = 5;
    if (cell.empty() || cell[0] < '0' || cell[0] > '9') return false;
    const size_t space = cell.find(' ');
    return space == std::string_view::npos || cell.size() - space - 1 <= kLongestUnit;
}

} // namespace

std::string table(const std::vector<std::vector<std::string>>& rows)
{
    // One name out of a file, however long, does not widen every row.
    constexpr size_t kWidest = 120;
    std::vector<size_t> widths;
    for (const auto& row : rows)
        for (size_t i = 0; i < row.size(); ++i) {
            if (i >= widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], std::min(lettersIn(row[i]), kWidest));
        }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) {
            const std::string cell = elidedWords(row[i]);
            const std::string padding(widths[i] - std::min(widths[i], lettersIn(cell)), ' ');
            const bool isNumber = i > 0 && isFigure(cell);
            line += (i > 0 ? "  " : "") + (isNumber ? padding + cell : cell + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

} // namespace tenon::cli
