// SPDX-License-Identifier: Apache-2.0
// tenon passes: runs the pipeline, lists what every pass changed, prints and compares modules.
#include "app/cli/command.h"
#include "app/cli/composed_report.h"
#include "app/cli/follow_report.h"
#include "app/cli/open_for_build.h"
#include "app/cli/text_diff.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/frontend/importer.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"

#include <CLI/CLI.hpp>

#include <charconv>

namespace tenon::cli {
namespace {

struct PassesOptions
{
    CommonOptions common;
    std::string model;
    std::string stopAfter;
    std::string printAfter;
    std::string diff;
    std::string follow;
    std::string from;
    std::string to;
    std::string rewrites;
    int64_t maxRewrites = -1;
    bool verifiesEach = false;
    bool verifiesNumerics = false;
    bool listsPasses = false;
};

bool isNamed(const compiler::PassRecord& record, const std::string& name)
{
    const compiler::PassDef* def = compiler::findPass(name);
    return record.name == name || (def && def->name == record.name);
}

Json idsJson(const std::vector<NodeId>& ids)
{
    Json out = Json::array();
    for (const NodeId id : ids) out.push_back(id.value);
    return out;
}

Json passesJson(const compiler::PassTrace& trace)
{
    Json passes = Json::array();
    for (size_t i = 0; i < trace.records.size(); ++i) {
        const compiler::PassRecord& record = trace.records[i];
        Json changes = Json::array();
        for (const Change& change : record.changes)
            changes.push_back({{"rule", change.rule},
                               {"from", idsJson(change.from)},
                               {"to", idsJson(change.to)},
                               {"reason", change.reason}});
        Json pass{{"index", i},
                  {"name", record.name},
                  {"phase", record.phase},
                  {"changed", record.changed},
                  {"ms", record.ms},
                  {"nodes_before", record.nodesBefore},
                  {"nodes_after", record.nodesAfter},
                  {"changes", std::move(changes)}};
        if (record.skipped) pass["skipped"] = true;
        if (record.rewrites > 0)
            pass["rewrites"] = {{"first", record.firstRewrite},
                                {"last", record.lastRewrite},
                                {"of", record.rewrites}};
        if (record.maxAbsError) pass["max_abs_error"] = *record.maxAbsError;
        passes.push_back(std::move(pass));
    }
    return {{"passes", std::move(passes)},
            {"module_bytes", trace.moduleBytes},
            {"trace_bytes", trace.traceBytes}};
}

/// Of a pass that is stepped: " 3 of 14".
std::string rewritesText(const compiler::PassRecord& record)
{
    if (record.rewrites == 0) return {};
    std::string text = " " + std::to_string(record.firstRewrite);
    if (record.lastRewrite != record.firstRewrite) text += "-" + std::to_string(record.lastRewrite);
    return text + " of " + std::to_string(record.rewrites);
}

std::string passesText(const compiler::PassTrace& trace)
{
    std::vector<std::vector<std::string>> rows{
        {"", "pass", "phase", "ms", "graph nodes", "changes", ""}};
    for (size_t i = 0; i < trace.records.size(); ++i) {
        const compiler::PassRecord& record = trace.records[i];
        std::map<std::string, size_t> rules;
        for (const Change& change : record.changes) ++rules[change.rule];
        std::vector<std::string> parts;
        for (const auto& [rule, count] : rules)
            parts.push_back(rule + " x" + std::to_string(count));
        std::string nodes = std::to_string(record.nodesBefore);
        if (record.nodesAfter != record.nodesBefore)
            nodes += " -> " + std::to_string(record.nodesAfter);
        std::string note = record.skipped   ? "(skipped)"
                           : record.changed ? join(parts, ", ")
                                            : "(unchanged)";
        if (record.maxAbsError) note += "  max error " + exact(*record.maxAbsError);
        rows.push_back({std::to_string(i), record.name + rewritesText(record), record.phase,
                        fixed(record.ms, 2), nodes, std::to_string(record.changes.size()), note});
    }
    return table(rows) + "module " + bytesText(trace.moduleBytes) + ", whole trace " +
           bytesText(trace.traceBytes) + "\n";
}

Json listJson()
{
    Json passes = Json::array();
    for (const compiler::PassDef& pass : compiler::allPasses())
        passes.push_back({{"name", pass.name},
                          {"cli_name", pass.cliName},
                          {"phase", pass.phase},
                          {"level", pass.minOptLevel},
                          {"summary", pass.summary}});
    return {{"passes", std::move(passes)}};
}

std::string listText()
{
    std::vector<std::vector<std::string>> rows;
    for (const compiler::PassDef& pass : compiler::allPasses())
        rows.push_back({std::string(pass.name), std::string(pass.cliName), std::string(pass.phase),
                        "level " + std::to_string(pass.minOptLevel), std::string(pass.summary)});
    return table(rows);
}

void printModules(const compiler::PassTrace& trace, const PassesOptions& options)
{
    const GraphTextOptions text{.origins = true, .hashes = false};
    Module before = trace.imported;
    for (const compiler::PassRecord& record : trace.records) {
        const bool isWanted = options.printAfter == "all" ||
                              (options.printAfter == "changed" && record.changed) ||
                              (!options.printAfter.empty() && isNamed(record, options.printAfter));
        if (isWanted)
            print("\n// after " + record.name + (record.changed ? "" : " (unchanged)") + "\n" +
                  printModule(record.after, text));
        if (!options.diff.empty() && isNamed(record, options.diff))
            print("\n// what " + record.name + " changed\n" +
                  textDiff(printModule(before, text), printModule(record.after, text)));
        before = record.after;
    }
}

/// The pass of which every rewrite is listed: a number of the listing, or a name, whose first run
/// it is.
Result<compiler::SteppedPass> steppedPass(const std::string& text)
{
    const std::vector<std::string_view> pipeline = compiler::defaultPipeline();
    size_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size() && number < pipeline.size())
        return compiler::SteppedPass{.position = number};
    const compiler::PassDef* wanted = compiler::findPass(text);
    for (size_t i = 0; wanted && i < pipeline.size(); ++i)
        if (compiler::findPass(pipeline[i]) == wanted) return compiler::SteppedPass{.position = i};
    return makeError(DiagnosticCode::UnknownName, "there is no pass " + core::quoted(text) +
                                                      " in the pipeline; --list-passes lists them");
}

Result<compiler::CompileOptions> howToRun(const PassesOptions& options)
{
    compiler::CompileOptions compile = compileOptions(options.common);
    compile.stopBeforeCodegen = true;
    compile.passes.stopAfter = options.stopAfter;
    compile.passes.maxRewrites = options.maxRewrites;
    compile.passes.verifyNumerics = options.verifiesNumerics;
    if (options.verifiesEach) compile.passes.verify = compiler::VerifyEach::Pass;
    if (options.rewrites.empty()) return compile;
    const auto stepped = steppedPass(options.rewrites);
    if (!stepped) return stepped.error();
    compile.passes.stepped = *stepped;
    return compile;
}

int passes(const PassesOptions& options, JobContext& job)
{
    if (options.listsPasses) {
        if (options.common.json)
            printJson(listJson());
        else
            print(listText());
        return kSuccess;
    }
    if (options.model.empty()) return wrongUsage("passes needs a MODEL");
    for (const std::string* name : {&options.printAfter, &options.diff})
        if (!name->empty() && *name != "changed" && *name != "all" && !compiler::findPass(*name))
            return wrongUsage("there is no pass " + core::quoted(*name) + "; see --list-passes");
    if (options.common.json && !(options.printAfter.empty() && options.diff.empty()))
        return wrongUsage("--print-after and --diff print text; leave out --json");
    auto opened = openForBuild(options.model, options.common);
    if (!opened) return failure(opened.error());
    printDiagnostics(opened->loaded->diagnostics);
    if (hasErrors(opened->loaded->diagnostics)) return kBadInput;
    auto compile = howToRun(options);
    if (!compile) return failure(compile.error());
    printDiagnostics(compiler::optionRemarks(*compile));
    auto result = compileOpened(opened->loaded, *compile, job, opened->ms);
    if (!result) return failure(inModel(result.error(), options.model));
    const compiler::PassTrace& trace = (*result)->passes;
    if (!options.from.empty() || !options.to.empty())
        return printComposed(trace, options.from, options.to, options.common.json);
    if (!options.follow.empty()) return printFollow(trace, options.follow, options.common.json);
    if (options.common.json) {
        printJson(passesJson(trace));
        return kSuccess;
    }
    print(passesText(trace));
    printModules(trace, options);
    return kSuccess;
}

} // namespace

void addPasses(CLI::App& app, Action& action)
{
    auto options = std::make_shared<PassesOptions>();
    CLI::App* command = app.add_subcommand("passes", "run the pipeline and show what it changed");
    command->add_option("MODEL", options->model, compiler::modelFilesText());
    addCompileOptions(*command, options->common);
    command->add_option("--stop-after", options->stopAfter, "pass or phase to stop behind");
    command->add_option(
        "--print-after", options->printAfter,
        "print the module after a pass, after those that `changed` it, or after `all`");
    command->add_option("--diff", options->diff, "show what one pass changed as a line diff");
    command->add_option("--follow", options->follow,
                        "say what became of a node of the model, pass by pass");
    command->add_option("--from", options->from,
                        "say what the passes behind this one made together; `imported`, which is "
                        "the default, is the model as it was read");
    command->add_option("--to", options->to, "up to this pass; default: the last");
    command->add_option("--rewrites", options->rewrites,
                        "list the rewrites of this pass, by name or number, one by one");
    command->add_option("--max-rewrites", options->maxRewrites, "stop after that many rewrites");
    command->add_flag("--verify-each", options->verifiesEach, "verify the IR after every pass");
    command->add_flag("--verify-numerics", options->verifiesNumerics,
                      "evaluate the module after each pass and compare");
    command->add_flag("--list-passes", options->listsPasses, "list all passes and stop");
    command->callback([options, &action] {
        action = [options](JobContext& job) { return passes(*options, job); };
    });
}

} // namespace tenon::cli
