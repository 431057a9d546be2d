// SPDX-License-Identifier: Apache-2.0
// tenon verify: folders in ONNX's backend-test layout, each case in a child process.
#include "app/cli/child_run.h"
#include "app/cli/number_checks.h"
#include "app/cli/verify_case.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/driver/target_cores.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>

namespace tenon::cli {
namespace {

/// What `verify` holds an artifact to; numerics.md says why.
constexpr const char* kVerifyRule =
    "The file that `compile` writes for these options is what is judged. Floats agree within the "
    "tolerance; integers when they are equal, or within the steps that meta.json states. Of a "
    "quantized model, an element may be off by what "
    "one step of the last quantized tensors makes of it, where at most 2 % of their elements are "
    "a step off.";

struct VerifyOptions
{
    CaseOptions one;
    std::vector<std::string> folders;
    double relative = -1;
    double absolute = -1;
    unsigned jobs = 1;
    bool isChild = false; ///< run the one case here and print its result
};

Json outputJson(const OutputResult& output)
{
    const Judgement& judged = output.judgement;
    return {{"set", output.set},
            {"output", output.output},
            {"elements", judged.elements},
            {"max_abs_error", judged.maxAbsError},
            {"rtol", output.tolerance.relative},
            {"atol", output.tolerance.absolute},
            {"allowed_steps", output.tolerance.steps},
            {"outside", judged.outside},
            {"one_step", judged.steps},
            {"one_step_allowed", judged.mayStep},
            {"one_step_reach", judged.allowed},
            {"reason", judged.reason}};
}

Json resultJson(const CaseResult& result)
{
    Json out{{"case", result.name},         {"status", result.status},
             {"reason", result.reason},     {"max_abs_error", result.maxAbsError},
             {"types", result.types},       {"place", result.place},
             {"sha256", result.sha256},     {"threads", result.threads},
             {"bindings", result.bindings}, {"outputs", Json::array()}};
    if (!result.fixed.empty()) out["fixed_inputs"] = result.fixed;
    for (const OutputResult& output : result.outputs) out["outputs"].push_back(outputJson(output));
    return out;
}

OutputResult outputOf(const Json& said)
{
    OutputResult out{.set = said.value("set", size_t{0}),
                     .output = said.value("output", size_t{0})};
    out.tolerance = {.relative = said.value("rtol", 0.0),
                     .absolute = said.value("atol", 0.0),
                     .steps = said.value("allowed_steps", int64_t{0})};
    out.judgement = {.elements = said.value("elements", int64_t{0}),
                     .maxAbsError = said.value("max_abs_error", 0.0),
                     .outside = said.value("outside", int64_t{0}),
                     .steps = said.value("one_step", int64_t{0}),
                     .mayStep = said.value("one_step_allowed", int64_t{0}),
                     .allowed = said.value("one_step_reach", 0.0),
                     .reason = said.value("reason", "")};
    return out;
}

/// What the child said of its case.
void takeResult(const Json& said, CaseResult& result)
{
    result.status = said.value("status", "failed");
    result.reason = said.value("reason", "");
    result.maxAbsError = said.value("max_abs_error", 0.0);
    result.place = said.value("place", "");
    result.sha256 = said.value("sha256", "");
    result.threads = said.value("threads", 0u);
    result.types = said.value("types", std::set<std::string>());
    result.fixed = said.value("fixed_inputs", std::vector<std::string>());
    result.bindings = said.value("bindings", std::vector<std::string>());
    for (const Json& output : said.value("outputs", Json::array()))
        result.outputs.push_back(outputOf(output));
}

std::vector<std::string> childArguments(const VerifyOptions& options, const std::string& folder)
{
    const CommonOptions& common = options.one.common;
    std::vector<std::string> out{"verify",
                                 "--one-case",
                                 folder,
                                 "--target",
                                 common.target,
                                 "--executor",
                                 common.executor,
                                 "--opt-level",
                                 std::to_string(common.optLevel),
                                 "--threads",
                                 std::to_string(common.threads),
                                 "--usmp-algorithm",
                                 common.planner,
                                 "--timeout",
                                 std::to_string(options.one.timeoutS)};
    const auto addAll = [&](const char* flag, const std::vector<std::string>& values) {
        for (const std::string& value : values) out.insert(out.end(), {flag, value});
    };
    addAll("--shape", common.shapes);
    addAll("--value", common.values);
    addAll("--pass-config", common.passConfig);
    addAll("--disable-pass", common.disabledPasses);
    if (common.noCache) out.emplace_back("--no-cache");
    const BoardOptions& where = options.one.where;
    const auto addText = [&](const char* flag, const std::string& value) {
        if (!value.empty()) out.insert(out.end(), {flag, value});
    };
    addText("--board", where.board);
    addText("--config", where.config);
    addText("--accept-host-key", where.acceptedFingerprint);
    out.insert(out.end(), {"--queue-timeout", std::to_string(where.queueTimeoutS)});
    if (where.skipsPreflight) out.emplace_back("--no-preflight");
    if (options.relative >= 0) out.insert(out.end(), {"--rtol", exact(options.relative)});
    if (options.absolute >= 0) out.insert(out.end(), {"--atol", exact(options.absolute)});
    return out;
}

std::string lastLine(const std::string& text)
{
    const std::vector<std::string> lines = split(trimmed(text), '\n');
    return lines.empty() ? std::string() : lines.back();
}

CaseResult isolatedCase(const VerifyOptions& options, const std::string& folder,
                        const JobContext& job)
{
    CaseResult result{.name = folder, .status = "failed", .reason = {}};
    auto child =
        runSelf(childArguments(options, folder), std::chrono::seconds(options.one.timeoutS), job);
    if (!child) {
        result.reason = child.error().text();
    } else if (child->hasTimedOut) {
        result.reason = "no result after " + std::to_string(options.one.timeoutS) + " s";
    } else if (child->signal != 0) {
        result.reason = "the compiler died of signal " + std::to_string(child->signal);
    } else {
        const Json reply = Json::parse(child->output, nullptr, false);
        if (reply.is_object() && reply.contains("status")) {
            takeResult(reply, result);
        } else {
            result.reason = "exit code " + std::to_string(child->exitCode) +
                            " without a result: " + lastLine(child->errors);
        }
    }
    return result;
}

/// How many elements one step of a quantized tensor explains, and how many it may.
std::string stepsText(const CaseResult& result)
{
    int64_t steps = 0, elements = 0, allowed = 0;
    for (const OutputResult& output : result.outputs) {
        if (output.judgement.steps == 0) continue;
        steps += output.judgement.steps;
        elements += output.judgement.elements;
        allowed += output.judgement.mayStep;
    }
    if (steps == 0) return "";
    return ", " + std::to_string(steps) + " of " + std::to_string(elements) +
           " elements off by one step of a quantized tensor, as " + std::to_string(allowed) +
           " may be";
}

Result<std::vector<CaseResult>> runAll(const VerifyOptions& options,
                                       const std::vector<std::string>& cases, JobContext& job)
{
    std::vector<CaseResult> results(cases.size());
    std::mutex printing;
    std::atomic<size_t> finished{0};
    const JobContext pool(std::max(1u, options.jobs));
    const Status done = pool.parallelFor(cases.size(), [&](size_t i) -> Status {
        if (Status go = job.checkStop(); !go) return go;
        results[i] = isolatedCase(options, cases[i], job);
        if (Status go = job.checkStop(); !go) return go;
        const std::lock_guard<std::mutex> lock(printing);
        ++finished;
        job.progress(static_cast<double>(finished) / static_cast<double>(cases.size()), cases[i]);
        if (options.one.common.json) return kDone;
        const CaseResult& r = results[i];
        print(r.status + "  " + r.name +
              (r.reason.empty() ? "  max error " + exact(r.maxAbsError) : "  " + r.reason) +
              stepsText(r) + "\n");
        std::fflush(stdout);
        return kDone;
    });
    if (!done) return done.error();
    return results;
}

/// A line that says where the cases ran, unless that is this computer itself.
std::string placeText(const std::vector<CaseResult>& results)
{
    for (const CaseResult& result : results)
        if (!result.place.empty() && result.place != "this computer") return result.place + "\n";
    return {};
}

/// Cases for a board are compiled for it.
Status aimAtBoard(VerifyOptions& options)
{
    if (!options.one.where.isElsewhere()) return kDone;
    const auto board = chosenBoard(options.one.where);
    if (!board) return board.error();
    options.one.boardProject = board->project;
    std::string& target = options.one.common.target;
    const bool isGiven = target != CommonOptions().target;
    if (!isGiven) target = board->target;
    target = compiler::withCores(target, board->threads);
    if (isGiven) return kDone;
    if (board->target.empty())
        return makeError(DiagnosticCode::BadTarget,
                         "the target of board " + core::quoted(board->name) +
                             " is not known yet; run `tenon board probe` or give --target");
    return kDone;
}

int tellAll(const VerifyOptions& options, const std::vector<CaseResult>& results)
{
    Json list = Json::array();
    int passed = 0, failed = 0, unsupported = 0;
    for (const CaseResult& result : results) {
        list.push_back(resultJson(result));
        if (result.status == "passed")
            ++passed;
        else if (result.status == "unsupported")
            ++unsupported;
        else
            ++failed;
    }
    if (options.one.common.json)
        printJson({{"cases", std::move(list)},
                   {"passed", passed},
                   {"failed", failed},
                   {"unsupported", unsupported},
                   {"rule", kVerifyRule}});
    else
        print(placeText(results) + std::to_string(passed) + " passed, " + std::to_string(failed) +
              " failed, " + std::to_string(unsupported) + " unsupported\n");
    return failed > 0 ? kFailed : kSuccess;
}

Diagnostic noCaseIn(const std::string& folder)
{
    constexpr const char* kCase =
        "; a case is a folder of a model (model.onnx, model.tflite) and test_data_set_0";
    std::error_code ignored;
    const auto status = std::filesystem::status(folder, ignored);
    const char* what = !std::filesystem::exists(status) ? "there is no such folder"
                       : !std::filesystem::is_directory(status)
                           ? "a file, not a folder of cases"
                           : "there is no case below the folder";
    return makeError(DiagnosticCode::BadArgument, std::string(what) + kCase, {.file = folder});
}

int verify(VerifyOptions options, JobContext& job)
{
    if (const Status chosen = chooseVirtualBoard(options.one.where, job); !chosen)
        return failure(chosen.error());
    if (const Status aimed = aimAtBoard(options); !aimed) return failure(aimed.error());
    if (options.relative >= 0) options.one.relative = options.relative;
    if (options.absolute >= 0) options.one.absolute = options.absolute;
    if (options.isChild) {
        printJson(resultJson(runCase(options.folders.front(), options.one, job)));
        return kSuccess;
    }
    std::vector<std::string> cases;
    for (const std::string& folder : options.folders) {
        const std::vector<std::string> found = findCases(folder);
        if (found.empty()) return failure(noCaseIn(folder));
        cases.insert(cases.end(), found.begin(), found.end());
    }
    printDiagnostics(compiler::optionRemarks(compileOptions(options.one.common)));
    const Result<std::vector<CaseResult>> results = runAll(options, cases, job);
    if (!results) return failure(results.error());
    return tellAll(options, *results);
}

} // namespace

void addVerify(CLI::App& app, Action& action)
{
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* command =
        app.add_subcommand("verify", "compile and run test cases and compare their outputs");
    command
        ->add_option("DIR", options->folders,
                     "folders with a model (model.onnx, model.tflite) and test_data_set_*")
        ->required();
    addCompileOptions(*command, options->one.common);
    addBoardOptions(*command, options->one.where);
    command->footer(kVerifyRule);
    command->add_option("--rtol", options->relative,
                        "relative tolerance of floats; default: that of meta.json, else 1e-3");
    command->add_option("--atol", options->absolute,
                        "absolute tolerance; default: that of meta.json, else 1e-5 of the largest "
                        "element");
    command->add_option("--jobs", options->jobs, "cases at a time")
        ->check(kPositive)
        ->capture_default_str();
    command->add_option("--timeout", options->one.timeoutS, "seconds for each case")
        ->check(kPositive)
        ->capture_default_str();
    command->add_flag("--one-case", options->isChild)->group("");
    command->callback([options, &action] {
        action = [options](JobContext& job) { return verify(*options, job); };
    });
}

} // namespace tenon::cli
