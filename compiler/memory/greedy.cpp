// SPDX-License-Identifier: Apache-2.0
// greedy_by_size and greedy_by_conflicts, and what all planners share.
#include "compiler/memory/planners.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

/// Where the buffer could lie in each candidate pool; a pool that a conflict rules out stays ruled
/// out, whatever later conflicts say.
struct Candidate
{
    int pool;
    int64_t offset = 0;
    bool isOpen = true;
};

std::vector<Candidate> openCandidates(const PlanningProblem& problem, int index)
{
    std::vector<Candidate> candidates;
    const int64_t size = problem.buffers[static_cast<size_t>(index)].sizeBytes;
    for (const int pool : candidatePools(problem, index))
        if (fits(problem.pools[static_cast<size_t>(pool)], size)) candidates.push_back({pool});
    return candidates;
}

/// Places buffers in the given order, each above all of its conflicts that are placed already.
core::Result<PlannedBuffers> placeInOrder(const PlanningProblem& problem,
                                          const std::vector<int>& order)
{
    std::vector<Placement> placements(problem.buffers.size());
    for (const int index : order) {
        const BufferInfo& buffer = problem.buffers[static_cast<size_t>(index)];
        std::vector<Candidate> candidates = openCandidates(problem, index);
        for (const int other : problem.conflicts[static_cast<size_t>(index)]) {
            const Placement placed = placements[static_cast<size_t>(other)];
            const auto candidate =
                std::find_if(candidates.begin(), candidates.end(),
                             [&](const Candidate& c) { return c.pool == placed.pool; });
            if (candidate == candidates.end()) continue;
            const BufferInfo& below = problem.buffers[static_cast<size_t>(other)];
            const int64_t next = roundUp(roundUp(placed.offset + below.sizeBytes, below.alignment),
                                         buffer.alignment);
            candidate->offset = std::max(candidate->offset, next);
            if (!fits(problem.pools[static_cast<size_t>(placed.pool)], next + buffer.sizeBytes))
                candidate->isOpen = false;
        }
        const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                         [](const Candidate& c) { return c.isOpen; });
        if (chosen == candidates.end()) return poolsExceeded(buffer);
        placements[static_cast<size_t>(index)] = {chosen->pool, chosen->offset};
    }
    return PlannedBuffers{std::move(placements)};
}

std::vector<int> allIndices(const PlanningProblem& problem)
{
    std::vector<int> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

} // namespace

std::vector<int> candidatePools(const PlanningProblem& problem, int index)
{
    const std::vector<int>& wanted = problem.buffers[static_cast<size_t>(index)].pools;
    if (!wanted.empty()) return wanted;
    std::vector<int> all(problem.pools.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

bool fits(const Pool& pool, int64_t endBytes)
{
    return pool.sizeHintBytes < 0 || endBytes <= pool.sizeHintBytes;
}

int64_t roundUp(int64_t value, int64_t multiple)
{
    return multiple <= 1 ? value : (value + multiple - 1) / multiple * multiple;
}

core::Diagnostic poolsExceeded(const BufferInfo& buffer)
{
    return core::makeError(
        core::DiagnosticCode::OutOfMemory,
        "TVM USMP Error: the space available in the provided pools exceeded when trying to "
        "allocate the buffer " +
            core::quoted(buffer.name) + " of " + std::to_string(buffer.sizeBytes) +
            " bytes; Please increase the size_hints for memory pools.",
        {.detail = buffer.name});
}

std::vector<int> orderBySize(const PlanningProblem& problem)
{
    std::vector<int> order = allIndices(problem);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
        const BufferInfo& a = problem.buffers[static_cast<size_t>(i)];
        const BufferInfo& b = problem.buffers[static_cast<size_t>(j)];
        if (a.sizeBytes != b.sizeBytes) return a.sizeBytes > b.sizeBytes;
        const size_t conflictsA = problem.conflicts[static_cast<size_t>(i)].size();
        const size_t conflictsB = problem.conflicts[static_cast<size_t>(j)].size();
        return conflictsA != conflictsB ? conflictsA > conflictsB : a.name > b.name;
    });
    return order;
}

std::vector<int> orderByConflicts(const PlanningProblem& problem)
{
    std::vector<int> order = allIndices(problem);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
        const BufferInfo& a = problem.buffers[static_cast<size_t>(i)];
        const BufferInfo& b = problem.buffers[static_cast<size_t>(j)];
        const size_t conflictsA = problem.conflicts[static_cast<size_t>(i)].size();
        const size_t conflictsB = problem.conflicts[static_cast<size_t>(j)].size();
        if (conflictsA != conflictsB) return conflictsA > conflictsB;
        return a.sizeBytes != b.sizeBytes ? a.sizeBytes > b.sizeBytes : a.name > b.name;
    });
    return order;
}

core::Result<PlannedBuffers> placeGreedyBySize(const PlanningProblem& problem, const PlannerLimits&)
{
    return placeInOrder(problem, orderBySize(problem));
}

core::Result<PlannedBuffers> placeGreedyByConflicts(const PlanningProblem& problem,
                                                    const PlannerLimits&)
{
    return placeInOrder(problem, orderByConflicts(problem));
}

} // namespace tenon::compiler
