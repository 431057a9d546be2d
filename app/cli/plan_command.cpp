// SPDX-License-Identifier: Apache-2.0
// tenon plan: static memory planning of models and of minimalloc's CSV problems.
#include "app/cli/command.h"
#include "app/cli/number_checks.h"
#include "app/cli/open_for_build.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/driver/planning_problem.h"
#include "compiler/memory/live_bytes.h"
#include "compiler/memory/plan_csv.h"
#include "compiler/memory/pools.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <limits>

namespace tenon::cli {
namespace {

struct PlanOptions
{
    CommonOptions common;
    std::vector<std::string> paths;
    std::string algorithm = "all";
    int64_t capacityBytes = -1;
    double timeLimitS = 10;
    int64_t alignment = 0; ///< 0: as the problem says
    std::string pools;
    std::string output;
};

struct Outcome
{
    std::string algorithm;
    std::optional<compiler::MemoryPlan> plan;
    std::string why; ///< when there is no plan
};

struct Instance
{
    std::string name;
    compiler::PlanningProblem problem;
    int64_t lowerBound = 0;
    std::vector<Outcome> outcomes;
};

/// Applies --capacity, --alignment and --workspace-pools.
Status applyWhatIfs(const PlanOptions& options, compiler::PlanningProblem& problem)
{
    if (!options.pools.empty()) {
        auto pools = compiler::parsePools(options.pools);
        if (!pools) return pools.error();
        problem.pools = std::move(*pools);
    }
    if (options.capacityBytes >= 0)
        for (compiler::Pool& pool : problem.pools) pool.sizeHintBytes = options.capacityBytes;
    if (options.alignment > 0)
        for (compiler::BufferInfo& buffer : problem.buffers) buffer.alignment = options.alignment;
    return core::kDone;
}

Result<compiler::PlanningProblem> problemOf(const std::string& path, const PlanOptions& options,
                                            JobContext& job)
{
    if (path.ends_with(".csv")) {
        auto text = readFile(path);
        if (!text) return text.error();
        auto csv = compiler::readPlanCsv(*text);
        if (!csv) {
            Diagnostic error = csv.error();
            error.location.file = path;
            return error;
        }
        return csv->problem;
    }
    auto opened = openForBuild(path, options.common);
    if (!opened) return opened.error();
    printDiagnostics(opened->loaded->diagnostics);
    const compiler::CompileOptions how = compileOptions(options.common);
    printDiagnostics(compiler::optionRemarks(how));
    return compiler::planningProblem(opened->loaded, how, job);
}

std::vector<std::string> chosenPlanners(const PlanOptions& options, bool hasLifetimes)
{
    if (options.algorithm != "all") return {options.algorithm};
    std::vector<std::string> names;
    for (const compiler::PlannerDef& planner : compiler::allPlanners())
        if (hasLifetimes || !planner.needsLifetimes) names.emplace_back(planner.name);
    return names;
}

/// What is planned: every buffer with the calls at which it is alive, and what is alive at each.
void addBuffers(const compiler::PlanningProblem& problem, Json& row)
{
    Json list = Json::array();
    for (const compiler::BufferInfo& buffer : problem.buffers)
        list.push_back({{"name", buffer.name},
                        {"bytes", buffer.sizeBytes},
                        {"alignment", buffer.alignment},
                        {"first", buffer.first},
                        {"last", buffer.last}});
    row["buffer_list"] = std::move(list);
    if (problem.hasLifetimes) row["live_bytes"] = compiler::liveBytes(problem);
}

/// Where each buffer lies, in the order of the list.
Json placementsJson(const compiler::MemoryPlan& plan)
{
    Json list = Json::array();
    for (const compiler::Placement& place : plan.placements)
        list.push_back({{"pool", place.pool}, {"offset", place.offset}});
    return list;
}

Json planJson(const std::vector<Instance>& instances)
{
    Json out = Json::array();
    for (const Instance& instance : instances) {
        Json results = Json::array();
        for (const Outcome& outcome : instance.outcomes) {
            Json row{{"algorithm", outcome.algorithm}};
            if (outcome.plan) {
                row["bytes"] = outcome.plan->totalBytes();
                row["optimal"] = outcome.plan->isOptimal;
                row["ms"] = outcome.plan->ms;
                row["placements"] = placementsJson(*outcome.plan);
                if (instance.problem.pools.size() > 1)
                    for (size_t i = 0; i < instance.problem.pools.size(); ++i)
                        row["pools"][instance.problem.pools[i].name] = outcome.plan->peakBytes[i];
            } else {
                row["error"] = outcome.why;
            }
            results.push_back(std::move(row));
        }
        out.push_back({{"name", instance.name},
                       {"buffers", instance.problem.buffers.size()},
                       {"lower_bound", instance.lowerBound},
                       {"results", std::move(results)}});
        addBuffers(instance.problem, out.back());
    }
    return {{"instances", std::move(out)}};
}

std::string planText(const std::vector<Instance>& instances)
{
    std::vector<std::vector<std::string>> rows{
        {"instance", "buffers", "algorithm", "bytes", "over bound", "ms", "proven"}};
    for (const Instance& instance : instances) {
        rows.push_back({instance.name, std::to_string(instance.problem.buffers.size()),
                        "(lower bound)", thousands(instance.lowerBound)});
        for (const Outcome& outcome : instance.outcomes) {
            if (!outcome.plan) {
                rows.push_back({"", "", outcome.algorithm, outcome.why});
                continue;
            }
            const double bytes = static_cast<double>(outcome.plan->totalBytes());
            const double over =
                instance.lowerBound > 0 ? bytes / static_cast<double>(instance.lowerBound) - 1 : 0;
            rows.push_back({"", "", outcome.algorithm, thousands(outcome.plan->totalBytes()),
                            fixed(over * 100, 2) + " %", fixed(outcome.plan->ms, 1),
                            outcome.plan->isOptimal ? "smallest" : ""});
        }
    }
    return table(rows);
}

Status writeBest(const Instance& instance, const std::string& path)
{
    const compiler::MemoryPlan* best = nullptr;
    for (const Outcome& outcome : instance.outcomes)
        if (outcome.plan && (!best || outcome.plan->totalBytes() < best->totalBytes()))
            best = &*outcome.plan;
    if (!best) return makeError(DiagnosticCode::OutOfMemory, "no algorithm found a plan to write");
    return writeFileAtomically(path, compiler::writePlanCsv(instance.problem, *best));
}

int plan(const PlanOptions& options, JobContext& job)
{
    if (options.algorithm != "all" && !compiler::findPlanner(options.algorithm)) {
        std::vector<std::string> names;
        for (const compiler::PlannerDef& p : compiler::allPlanners()) names.emplace_back(p.name);
        return wrongUsage("there is no algorithm " + core::quoted(options.algorithm) +
                          "; there are " + join(names, ", ") + " and all");
    }
    if (!options.output.empty() && options.paths.size() != 1)
        return wrongUsage("-o needs exactly one MODEL or CSV");
    std::vector<Instance> instances;
    bool isComplete = true;
    const bool hasBudget = options.capacityBytes >= 0 || !options.pools.empty();
    for (const std::string& path : options.paths) {
        auto problem = problemOf(path, options, job);
        if (!problem) return failure(problem.error());
        if (const Status applied = applyWhatIfs(options, *problem); !applied)
            return failure(applied.error());
        Instance instance{.name = path, .problem = std::move(*problem)};
        instance.lowerBound = compiler::lowerBound(instance.problem);
        for (const std::string& name : chosenPlanners(options, instance.problem.hasLifetimes)) {
            auto found = compiler::planMemory(
                name, instance.problem,
                {.nodes = std::numeric_limits<int64_t>::max(), .seconds = options.timeLimitS});
            if (found) {
                instance.outcomes.push_back({name, std::move(*found), {}});
            } else {
                instance.outcomes.push_back({name, std::nullopt, found.error().message});
                isComplete = isComplete && hasBudget;
            }
        }
        instances.push_back(std::move(instance));
    }
    if (options.common.json)
        printJson(planJson(instances));
    else
        print(planText(instances));
    bool hasPlans = true;
    for (const Instance& instance : instances) {
        bool hasPlan = false;
        for (const Outcome& outcome : instance.outcomes) hasPlan = hasPlan || outcome.plan;
        hasPlans = hasPlans && hasPlan;
    }
    if (!options.output.empty())
        if (const Status written = writeBest(instances[0], options.output); !written)
            return failure(written.error());
    return isComplete && hasPlans ? kSuccess : kFailed;
}

} // namespace

void addPlan(CLI::App& app, Action& action)
{
    auto options = std::make_shared<PlanOptions>();
    CLI::App* command =
        app.add_subcommand("plan", "static memory planning, compared with the bound");
    command->add_option("MODEL|CSV", options->paths, "models, or minimalloc CSV files")->required();
    addCompileOptions(*command, options->common);
    command->add_option("--algorithm", options->algorithm, "one planner, or all")
        ->capture_default_str();
    command->add_option("--capacity", options->capacityBytes, "bytes that a plan may use");
    command
        ->add_option("--time-limit", options->timeLimitS,
                     "seconds that the exact planner may search for each problem")
        ->check(kPositive)
        ->capture_default_str();
    command->add_option("--alignment", options->alignment, "of every buffer, in bytes")
        ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}));
    command->add_option("--workspace-pools", options->pools,
                        "pools in order of preference, such as DTCM=128KiB,SRAM");
    command->add_option("-o,--output", options->output, "write the best plan as CSV");
    command->callback([options, &action] {
        action = [options](JobContext& job) { return plan(*options, job); };
    });
}

} // namespace tenon::cli
