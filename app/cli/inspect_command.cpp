// SPDX-License-Identifier: Apache-2.0
// tenon inspect: what a model is and what is wrong with it; opens what cannot be compiled, too.
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/open_for_build.h"
#include "compiler/frontend/import_report.h"
#include "compiler/frontend/importer.h"
#include "compiler/frontend/model_counts.h"
#include "compiler/frontend/open_sizes.h"
#include "compiler/passes/use_index.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/repeats.h"
#include "core/ir/size_bounds.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tenon::cli {
namespace {

struct InspectOptions
{
    CommonOptions common;
    std::string model;
    bool printsIr = false;
};

Json valuesJson(const std::vector<compiler::ValueFacts>& values)
{
    Json out = Json::array();
    for (const compiler::ValueFacts& value : values)
        out.push_back({{"name", value.name},
                       {"dtype", value.dtype},
                       {"shape", value.hasShape ? shapeJson(value.shape) : Json()}});
    return out;
}

/// Blocks of a model without name scopes, by place in the program.
Json repeatsJson(const Module& module)
{
    Json out = Json::array();
    for (const RepeatedBlock& block : repeatedBlocks(module))
        out.push_back({{"first", block.repeat.first},
                       {"length", block.repeat.length},
                       {"count", block.repeat.count},
                       {"operators", block.kinds}});
    return out;
}

Json reportJson(const compiler::ImportReport& report)
{
    using compiler::NodeVerdict;
    Json nodes = Json::array();
    for (const compiler::NodeReport& node : report.nodes)
        nodes.push_back({{"node", node.node},
                         {"op", node.op},
                         {"verdict", compiler::verdictText(node.verdict)},
                         {"why", node.why}});
    Json out{{"model", report.model}, {"nodes", std::move(nodes)}};
    for (const NodeVerdict verdict :
         {NodeVerdict::Supported, NodeVerdict::Noted, NodeVerdict::Unsupported,
          NodeVerdict::Invalid, NodeVerdict::Unreached})
        out[compiler::verdictText(verdict)] = report.count(verdict);
    return out;
}

/// How many nodes of each verdict, and every node that is not simply supported.
std::string reportText(const compiler::ImportReport& report)
{
    using compiler::NodeVerdict;
    std::string out = "\nimport\n";
    std::vector<std::vector<std::string>> rows;
    for (const NodeVerdict verdict :
         {NodeVerdict::Supported, NodeVerdict::Noted, NodeVerdict::Unsupported,
          NodeVerdict::Invalid, NodeVerdict::Unreached})
        if (const size_t count = report.count(verdict); count > 0)
            rows.push_back(
                {std::string("  ") + compiler::verdictText(verdict), std::to_string(count)});
    out += table(rows);
    size_t lines = 0;
    for (const compiler::NodeReport& node : report.nodes) {
        if (node.verdict == NodeVerdict::Supported || node.verdict == NodeVerdict::Unreached)
            continue;
        if (++lines > kMostLines) continue;
        out += "  " + elided(node.node) + " (" + elided(node.op) +
               "): " + compiler::verdictText(node.verdict) + ": " + elidedWords(node.why) + "\n";
    }
    if (lines > kMostLines)
        out += "  and " + std::to_string(lines - kMostLines) + " more; --json lists them\n";
    return out;
}

/// Of the model as it stands; where its batch is open, MACs are those of one, as builds take it.
ModelCounts countsFor(const compiler::Loaded& loaded, const InspectOptions& options)
{
    ModelCounts counts = compiler::countsOf(loaded);
    if (hasErrors(loaded.diagnostics) || !compiler::hasUnboundSizes(loaded.module)) return counts;
    const auto built = openForBuild(options.model, options.common);
    if (built && !hasErrors(built->loaded->diagnostics))
        counts.macs = compiler::countsOf(*built->loaded).macs;
    return counts;
}

/// How often each operator of Tenon stands in the imported graph, nested functions included.
Json operatorsJson(const Module& module)
{
    std::map<std::string, int> counts;
    if (!module.mainId().isValid()) return Json::object();
    for (const GraphFunction* function : compiler::openFunctions(module))
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Constant && node.kind != NodeKind::Parameter)
                ++counts[core::shownOperator(node)];
        }
    return counts;
}

Json inspectJson(const compiler::Loaded& loaded, const InspectOptions& options)
{
    const compiler::ModelFacts& facts = loaded.facts;
    const ModelCounts counts = countsFor(loaded, options);
    Json opsets = Json::object();
    for (const auto& [domain, version] : facts.opsets) opsets[domain] = version;
    Json metadata = Json::object();
    for (const auto& [key, value] : facts.metadata) metadata[key] = value;
    Json diagnostics = Json::array();
    for (const Diagnostic& d : loaded.diagnostics) diagnostics.push_back(diagnosticJson(d));
    Json out{{"model", options.model},
             {"format", facts.format},
             {"ir_version", facts.irVersion},
             {"opsets", std::move(opsets)},
             {"producer", facts.producer},
             {"producer_version", facts.producerVersion},
             {"model_version", facts.modelVersion},
             {"graph", facts.graphName},
             {"doc", facts.doc},
             {"metadata", std::move(metadata)},
             {"functions", facts.functions},
             {"inputs", valuesJson(facts.inputs)},
             {"outputs", valuesJson(facts.outputs)},
             {"nodes", counts.fileNodes},
             {"graph_nodes", counts.graphNodes},
             {"nested_nodes", counts.nestedNodes},
             {"params", counts.parameters},
             {"param_bytes", counts.parameterBytes},
             {"macs", counts.macs}};
    Json ops = Json::object();
    for (const auto& [op, count] : facts.opCounts) ops[op] = count;
    out["ops"] = std::move(ops);
    out["operators"] = operatorsJson(loaded.module);
    for (const auto& [name, range] : boundsOf(loaded.module.main()))
        out["bounds"][name] = boundsText(range);
    out["folded_at_import"] = loaded.changes.size();
    out["repeats"] = repeatsJson(loaded.module);
    out["diagnostics"] = std::move(diagnostics);
    out["import"] = reportJson(compiler::importReport(loaded));
    return out;
}

void addValues(std::vector<std::vector<std::string>>& rows, const std::string& title,
               const std::vector<compiler::ValueFacts>& values)
{
    for (size_t i = 0; i < values.size(); ++i)
        rows.push_back({i == 0 ? title : "", values[i].name + " " + values[i].dtype +
                                                 (values[i].hasShape ? shapeText(values[i].shape)
                                                                     : " of unknown rank")});
}

/// The most frequent first.
std::string operatorTable(const compiler::ModelFacts& facts)
{
    std::vector<std::pair<size_t, std::string>> operators;
    for (const auto& [op, count] : facts.opCounts) operators.emplace_back(count, op);
    std::sort(operators.begin(), operators.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::vector<std::string>> ops;
    for (const auto& [count, op] : operators) ops.push_back({"  " + op, std::to_string(count)});
    return table(ops);
}

std::string inspectText(const OpenedModel& opened, const InspectOptions& options)
{
    const compiler::Loaded& loaded = *opened.loaded;
    const compiler::ModelFacts& facts = loaded.facts;
    std::vector<std::string> opsets;
    for (const auto& [domain, version] : facts.opsets)
        opsets.push_back(domain + " " + std::to_string(version));
    std::vector<std::vector<std::string>> rows;
    std::string format = compiler::titleOfFormat(facts.format);
    if (facts.irVersion > 0) format += ", IR version " + std::to_string(facts.irVersion);
    rows.push_back({"format", format});
    if (!opsets.empty()) {
        rows.push_back({"opsets", join(opsets, ", ")});
        rows.push_back({"producer", facts.producer + " " + facts.producerVersion});
    }
    if (!facts.graphName.empty()) rows.push_back({"graph", facts.graphName});
    for (const auto& [key, value] : facts.metadata)
        rows.push_back({"metadata", key + " = " + value});
    if (!facts.functions.empty()) rows.push_back({"functions", join(facts.functions, ", ")});
    addValues(rows, "inputs", facts.inputs);
    addValues(rows, "outputs", facts.outputs);
    for (const auto& [name, range] : boundsOf(loaded.module.main()))
        rows.push_back({"size", name + " = " + boundsText(range)});
    const ModelCounts counts = countsFor(loaded, options);
    const std::string nested =
        counts.nestedNodes > 0 ? ", " + thousands(counts.nestedNodes) + " nested" : "";
    rows.push_back({"nodes", " " + thousands(counts.fileNodes) + " in the file, " +
                                 thousands(counts.graphNodes) + " in the imported graph" + nested});
    rows.push_back({"parameters", " " + thousands(counts.parameters) + " (" +
                                      bytesText(static_cast<uint64_t>(counts.parameterBytes)) +
                                      ")"});
    const bool isOpen = counts.macs == 0 && compiler::hasUnboundSizes(loaded.module);
    rows.push_back({"MACs", isOpen ? "not known while sizes are open; --shape gives them"
                                   : " " + thousands(counts.macs)});
    for (const RepeatedBlock& block : repeatedBlocks(loaded.module))
        rows.push_back({"repeats", std::to_string(block.repeat.count) + " blocks of " +
                                       std::to_string(block.repeat.length) + " nodes, from node " +
                                       std::to_string(block.repeat.first)});
    rows.push_back({"import", fixed(opened.ms, 1) + " ms, " +
                                  std::to_string(loaded.changes.size()) + " nodes folded"});
    std::string out = table(rows) + "\noperators\n";
    return out + operatorTable(facts) + reportText(compiler::importReport(loaded));
}

int inspect(const InspectOptions& options)
{
    const ComputingScope scope; // it writes no file
    auto opened = openModel(options.model, options.common);
    if (!opened) {
        if (options.common.json)
            printJson({{"model", options.model},
                       {"diagnostics", Json::array({diagnosticJson(opened.error())})}});
        return failure(opened.error());
    }
    const compiler::Loaded& loaded = *opened->loaded;
    if (options.common.json)
        printJson(inspectJson(loaded, options));
    else
        print(inspectText(*opened, options));
    if (options.printsIr && !options.common.json)
        print("\n" + printModule(loaded.module, {.hashes = false}));
    printDiagnostics(loaded.diagnostics);
    return hasErrors(loaded.diagnostics) ? kBadInput : kSuccess;
}

} // namespace

void addInspect(CLI::App& app, Action& action)
{
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command =
        app.add_subcommand("inspect", "summary of a model, its operators and every problem found");
    command->add_option("MODEL", options->model, compiler::modelFilesText())->required();
    addModelOptions(*command, options->common);
    command->add_flag("--ir", options->printsIr, "print the imported graph IR, too");
    command->callback(
        [options, &action] { action = [options](JobContext&) { return inspect(*options); }; });
}

} // namespace tenon::cli
