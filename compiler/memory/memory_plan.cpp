// SPDX-License-Identifier: Apache-2.0
// The table of planners, conflicts from lifetimes, and the lower bound.
#include "compiler/memory/memory_plan.h"

#include "compiler/memory/check_plan.h"
#include "compiler/memory/lifetime_events.h"
#include "compiler/memory/live_bytes.h"
#include "compiler/memory/planners.h"
#include "core/base/clock.h"
#include "core/base/text.h"

#include <algorithm>
#include <chrono>

namespace tenon::compiler {
namespace {

constexpr PlannerDef kPlanners[] = {
    {"greedy_by_size", "largest buffers first, each at the first offset above its conflicts", false,
     placeGreedyBySize},
    {"greedy_by_conflicts", "buffers with most conflicts first, placed like greedy_by_size", false,
     placeGreedyByConflicts},
    {"hill_climb", "swaps buffers below the peak and keeps the best plan of up to 500 attempts",
     false, placeHillClimb},
    {"exact",
     "searches until the plan meets the bound or is proven smallest, never worse than "
     "hill_climb's, within "
     "limits",
     true, placeExact},
    {"linear_scan", "in program order, each buffer into the smallest gap that holds it", true,
     placeLinearScan},
};

constexpr PlannerDef kApart = {kNoSharing, "every buffer in a place of its own", false, placeApart};

core::Diagnostic unknownPlanner(std::string_view name)
{
    std::vector<std::string> names;
    for (const PlannerDef& planner : kPlanners) names.emplace_back(planner.name);
    return core::makeError(core::DiagnosticCode::UnknownName,
                           "no memory planner " + core::quoted(name) + "; planners are " +
                               core::join(names, ", "),
                           {.detail = "algorithm"});
}

} // namespace

int64_t MemoryPlan::totalBytes() const
{
    int64_t total = 0;
    for (const int64_t bytes : peakBytes) total += bytes;
    return total;
}

PlanningProblem makeProblem(std::vector<BufferInfo> buffers, std::vector<Pool> pools)
{
    PlanningProblem problem;
    problem.conflicts.resize(buffers.size());
    size_t count = 0;
    std::vector<int> open;
    for (const LifetimeEvent& event : lifetimeEvents(buffers)) {
        if (event.isEnd) {
            open.erase(std::find(open.begin(), open.end(), event.buffer));
            continue;
        }
        count += open.size();
        if (count > kMostConflicts) break;
        for (const int other : open) {
            problem.conflicts[static_cast<size_t>(event.buffer)].push_back(other);
            problem.conflicts[static_cast<size_t>(other)].push_back(event.buffer);
        }
        open.push_back(event.buffer);
    }
    problem.hasConflicts = count <= kMostConflicts;
    if (!problem.hasConflicts) problem.conflicts.clear();
    problem.buffers = std::move(buffers);
    problem.pools = std::move(pools);
    return problem;
}

int64_t lowerBound(const PlanningProblem& problem)
{
    return problem.hasLifetimes ? peakLiveBytes(problem) : 0;
}

std::span<const PlannerDef> allPlanners() { return kPlanners; }

const PlannerDef* findPlanner(std::string_view name)
{
    for (const PlannerDef& planner : kPlanners)
        if (planner.name == name) return &planner;
    return name == kNoSharing ? &kApart : nullptr;
}

core::Result<MemoryPlan> planMemory(std::string_view algorithm, const PlanningProblem& problem,
                                    const PlannerLimits& limits)
{
    const PlannerDef* planner = findPlanner(algorithm);
    if (!planner) return unknownPlanner(algorithm);
    if (!problem.hasConflicts && planner->place != placeApart) planner = findPlanner("linear_scan");
    if (planner->needsLifetimes && !problem.hasLifetimes)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               core::quoted(algorithm) + " needs lifetimes, not only conflicts");
    const auto start = std::chrono::steady_clock::now();
    core::Result<PlannedBuffers> planned = planner->place(problem, limits);
    if (!planned) return planned.error();
    const double tookMs = core::millisecondsSince(start);

    MemoryPlan plan{.algorithm = std::string(planner->name),
                    .placements = std::move(planned->placements)};
    plan.ms = tookMs;
    plan.lowerBoundBytes = lowerBound(problem);
    plan.peakBytes.assign(problem.pools.size(), 0);
    for (size_t i = 0; i < plan.placements.size(); ++i) {
        int64_t& peak = plan.peakBytes[static_cast<size_t>(plan.placements[i].pool)];
        peak = std::max(peak, plan.placements[i].offset + problem.buffers[i].sizeBytes);
    }
    plan.isOptimal = planned->isOptimal || plan.totalBytes() == plan.lowerBoundBytes;
    const std::vector<core::Diagnostic> faults = checkPlan(problem, plan);
    CHECK(faults.empty()) << algorithm << ": " << faults.front().text();
    return plan;
}

} // namespace tenon::compiler
