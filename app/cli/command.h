// SPDX-License-Identifier: Apache-2.0
// What the commands of `tenon` share: exit codes, common options, diagnostics on stderr, JSON on
// stdout.
#pragma once

#include "compiler/driver/compile.h"
#include "core/base/result.h"
#include "core/jobs/job.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

// Its headers take seconds, so that only what declares options reads them.
namespace CLI {
class App;
}

namespace tenon::cli {

using namespace core;
using Json = nlohmann::ordered_json;

enum ExitCode : int
{
    kSuccess = 0,
    kFailed = 1,     ///< the operation failed or a check did not hold
    kWrongUsage = 2, ///< options that make no sense
    kBadInput = 4    ///< the model, target string or data is at fault
};

/// What a parsed command line wants done.
using Action = std::function<int(JobContext&)>;

struct CommonOptions
{
    std::string target = "llvm -mcpu=native";
    std::string executor = "aot";
    int optLevel = 3;
    std::vector<std::string> shapes;    ///< "NAME=1,3,224,224" or "dim=8"
    std::vector<std::string> values;    ///< "NAME=2,3": an input that becomes a constant
    std::vector<std::string> operators; ///< files with definitions of operators
    unsigned threads = 0;               ///< 0: as the target says
    std::vector<std::string> passConfig;
    std::vector<std::string> disabledPasses;
    std::string planner = "hill_climb";
    bool noCache = false;
    bool json = false;
    int verbosity = 0;
};

/// Adds --json, -v and, for commands that open models, --shape.
void addOutputOptions(CLI::App& command, CommonOptions& options);
void addModelOptions(CLI::App& command, CommonOptions& options);
/// Adds --target, --executor, --opt-level, --threads, --pass-config, --disable-pass, ...
void addCompileOptions(CLI::App& command, CommonOptions& options);

/// Reads --shape entries; error BadArgument names the entry.
Result<compiler::ImportOptions> importOptions(const CommonOptions& options);
compiler::CompileOptions compileOptions(const CommonOptions& options);
/// The loaded model, how long that took, and the exit code when it cannot be used.
struct OpenedModel
{
    std::shared_ptr<const compiler::Loaded> loaded;
    double ms = 0;
};
/// Opens without judging the model's own errors.
Result<OpenedModel> openModel(const std::string& path, const CommonOptions& options);
/// What was opened, compiled; an interrupt that a pass does not notice ends the program.
Result<compiler::CompileResultPtr> compileOpened(std::shared_ptr<const compiler::Loaded> loaded,
                                                 const compiler::CompileOptions& options,
                                                 JobContext& job, double openedMs = 0);

/// One line per diagnostic on stderr; notes follow indented.
void printDiagnostic(const Diagnostic& diagnostic);
/// What the compiler chose and one may want to change: that the model runs on the VM though another
/// executor was asked for, and with `verbosity` which kernels are plain loops.
void noteChoices(const compiler::CompileResult& result, int verbosity);
/// Lists longer than this end with how many more there are.
constexpr size_t kMostLines = 1000;
void printDiagnostics(const std::vector<Diagnostic>& diagnostics);
/// What is wrong at a node says of which file.
Diagnostic inModel(Diagnostic error, const std::string& path);
/// Prints and returns the exit code of the diagnostic's kind.
int failure(const Diagnostic& diagnostic);
/// Wrong usage: one line on stderr, exit code 2.
int wrongUsage(const std::string& message);

Json diagnosticJson(const Diagnostic& diagnostic);
Json shapeJson(const Shape& shape);
/// One document on stdout; text that is not UTF-8 is replaced.
void printJson(const Json& document);
/// Text on stdout.
void print(const std::string& text);

/// Columns padded to their widest cell; numbers (cells that start with a digit) to the right.
std::string table(const std::vector<std::vector<std::string>>& rows);

// One function per command, in its own file: adds the subcommand; `action` is set when it is
// chosen.
void addBench(CLI::App& app, Action& action);
void addBoard(CLI::App& app, Action& action);
void addCompare(CLI::App& app, Action& action);
void addCompile(CLI::App& app, Action& action);
void addCompletion(CLI::App& app, Action& action);
void addConvert(CLI::App& app, Action& action);
void addDeploy(CLI::App& app, Action& action);
void addFootprint(CLI::App& app, Action& action);
void addInspect(CLI::App& app, Action& action);
void addPasses(CLI::App& app, Action& action);
void addPlan(CLI::App& app, Action& action);
void addProject(CLI::App& app, Action& action);
void addQuantize(CLI::App& app, Action& action);
void addRelay(CLI::App& app, Action& action);
void addRpcServer(CLI::App& app, Action& action);
void addRun(CLI::App& app, Action& action);
void addTargets(CLI::App& app, Action& action);
void addTir(CLI::App& app, Action& action);
void addTracker(CLI::App& app, Action& action);
void addVerify(CLI::App& app, Action& action);

} // namespace tenon::cli
