// SPDX-License-Identifier: Apache-2.0
// The table of planners, conflicts from lifetimes, and the lower bound.
#include "compiler/memory/memory_plan.h"

#include "compiler/memory/check_plan.h"
#include "compiler/memory/planners.h"
#include "core/base/text.h"

#include <algorithm>
#include <chrono>
#include <map>

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
     "searches from hill_climb's plan until it meets the bound or is proven smallest, within "
     "limits",
     true, placeExact},
    {"linear_scan", "in program order, each buffer into the smallest gap that holds it", true,
     placeLinearScan},
};

/// A buffer starts or ends; starts sort first, so that inclusive ends overlap.
struct Event
{
    int64_t point;
    bool isEnd;
    int buffer;
};

std::vector<Event> sortedEvents(const std::vector<BufferInfo>& buffers)
{
    std::vector<Event> events;
    for (size_t i = 0; i < buffers.size(); ++i) {
        events.push_back({buffers[i].first, false, static_cast<int>(i)});
        events.push_back({buffers[i].last, true, static_cast<int>(i)});
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return a.point != b.point ? a.point < b.point : a.isEnd < b.isEnd;
    });
    return events;
}

int64_t smallestAlignment(const std::vector<BufferInfo>& buffers)
{
    int64_t smallest = INT64_MAX;
    for (const BufferInfo& buffer : buffers) smallest = std::min(smallest, buffer.alignment);
    return buffers.empty() ? 1 : std::max<int64_t>(smallest, 1);
}

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
    std::vector<int> open;
    for (const Event& event : sortedEvents(buffers)) {
        if (event.isEnd) {
            open.erase(std::find(open.begin(), open.end(), event.buffer));
            continue;
        }
        for (const int other : open) {
            problem.conflicts[static_cast<size_t>(event.buffer)].push_back(other);
            problem.conflicts[static_cast<size_t>(other)].push_back(event.buffer);
        }
        open.push_back(event.buffer);
    }
    problem.buffers = std::move(buffers);
    problem.pools = std::move(pools);
    return problem;
}

int64_t lowerBound(const PlanningProblem& problem)
{
    if (!problem.hasLifetimes) return 0;
    // Rounding to the smallest alignment keeps this a bound when alignments differ.
    const int64_t alignment = smallestAlignment(problem.buffers);
    int64_t live = 0;
    int64_t bound = 0;
    std::multimap<int64_t, int> slack; // padding of the live buffers
    for (const Event& event : sortedEvents(problem.buffers)) {
        const int64_t size = problem.buffers[static_cast<size_t>(event.buffer)].sizeBytes;
        const int64_t aligned = roundUp(size, alignment);
        if (event.isEnd) {
            live -= aligned;
            slack.erase(slack.find(aligned - size));
            continue;
        }
        live += aligned;
        slack.emplace(aligned - size, event.buffer);
        int64_t unpadded = live;
        size_t tops = problem.pools.size();
        for (auto it = slack.rbegin(); it != slack.rend() && tops > 0; ++it, --tops)
            unpadded -= it->first;
        bound = std::max(bound, unpadded);
    }
    return bound;
}

std::span<const PlannerDef> allPlanners() { return kPlanners; }

const PlannerDef* findPlanner(std::string_view name)
{
    for (const PlannerDef& planner : kPlanners)
        if (planner.name == name) return &planner;
    return nullptr;
}

core::Result<MemoryPlan> planMemory(std::string_view algorithm, const PlanningProblem& problem,
                                    const PlannerLimits& limits)
{
    const PlannerDef* planner = findPlanner(algorithm);
    if (!planner) return unknownPlanner(algorithm);
    if (planner->needsLifetimes && !problem.hasLifetimes)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               core::quoted(algorithm) + " needs lifetimes, not only conflicts");
    const auto start = std::chrono::steady_clock::now();
    core::Result<PlannedBuffers> planned = planner->place(problem, limits);
    if (!planned) return planned.error();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;

    MemoryPlan plan{.algorithm = std::string(algorithm),
                    .placements = std::move(planned->placements)};
    plan.ms = took.count();
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
