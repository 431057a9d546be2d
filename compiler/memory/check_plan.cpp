// SPDX-License-Identifier: Apache-2.0
// Checks plans from the definitions alone: what lives at one time is compared with what lies beside
// it; where that finds a fault, or there are no lifetimes, every pair of buffers is.
#include "compiler/memory/check_plan.h"

#include "compiler/memory/lifetime_events.h"
#include "core/base/text.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace tenon::compiler {
namespace {

core::Diagnostic fault(const BufferInfo& buffer, const std::string& what)
{
    return core::makeError(core::DiagnosticCode::InternalBug,
                           "buffer " + core::quoted(buffer.name) + " " + what);
}

bool mustNotOverlap(const PlanningProblem& problem, size_t i, size_t j)
{
    const BufferInfo& a = problem.buffers[i];
    const BufferInfo& b = problem.buffers[j];
    if (problem.hasLifetimes) return a.first <= b.last && b.first <= a.last;
    const auto lists = [&](size_t from, size_t to) {
        const std::vector<int>& list = problem.conflicts[from];
        return std::find(list.begin(), list.end(), static_cast<int>(to)) != list.end();
    };
    return lists(i, j) && lists(j, i);
}

void checkBuffer(const PlanningProblem& problem, const BufferInfo& buffer, Placement at,
                 std::vector<core::Diagnostic>& faults)
{
    if (at.pool < 0 || static_cast<size_t>(at.pool) >= problem.pools.size()) {
        faults.push_back(fault(buffer, "lies in no pool"));
        return;
    }
    const std::vector<int>& allowed = buffer.pools;
    if (!allowed.empty() && std::count(allowed.begin(), allowed.end(), at.pool) == 0)
        faults.push_back(fault(buffer, "lies in a pool that is no candidate"));
    const int64_t room = problem.pools[static_cast<size_t>(at.pool)].sizeHintBytes;
    if (room >= 0 && at.offset + buffer.sizeBytes > room)
        faults.push_back(
            fault(buffer, "ends behind its pool's " + std::to_string(room) + " bytes"));
    if (at.offset < 0 || (buffer.alignment > 0 && at.offset % buffer.alignment != 0))
        faults.push_back(fault(buffer, "is misaligned at " + std::to_string(at.offset)));
}

/// True when each buffer that starts lies behind the end of the one before it, and before the next,
/// of those that live then.
bool isApartAtAllTimes(const PlanningProblem& problem, const MemoryPlan& plan)
{
    std::vector<std::map<int64_t, int64_t>> taken(problem.pools.size()); // start to end
    for (const LifetimeEvent& event : lifetimeEvents(problem.buffers)) {
        const Placement at = plan.placements[static_cast<size_t>(event.buffer)];
        const int64_t size = problem.buffers[static_cast<size_t>(event.buffer)].sizeBytes;
        if (size <= 0) continue;
        std::map<int64_t, int64_t>& pool = taken[static_cast<size_t>(at.pool)];
        if (event.isEnd) {
            pool.erase(at.offset);
            continue;
        }
        const auto [it, isNew] = pool.emplace(at.offset, at.offset + size);
        if (!isNew || (it != pool.begin() && std::prev(it)->second > at.offset) ||
            (std::next(it) != pool.end() && std::next(it)->first < at.offset + size))
            return false;
    }
    return true;
}

} // namespace

std::vector<core::Diagnostic> checkPlan(const PlanningProblem& problem, const MemoryPlan& plan)
{
    std::vector<core::Diagnostic> faults;
    if (plan.placements.size() != problem.buffers.size()) {
        faults.push_back(core::makeError(core::DiagnosticCode::InternalBug,
                                         "the plan places another number of buffers"));
        return faults;
    }
    for (size_t i = 0; i < problem.buffers.size(); ++i)
        checkBuffer(problem, problem.buffers[i], plan.placements[i], faults);
    if (faults.empty() && problem.hasLifetimes && isApartAtAllTimes(problem, plan)) return faults;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
        for (size_t j = i + 1; j < problem.buffers.size(); ++j) {
            const Placement a = plan.placements[i];
            const Placement b = plan.placements[j];
            const bool apart = a.pool != b.pool ||
                               a.offset + problem.buffers[i].sizeBytes <= b.offset ||
                               b.offset + problem.buffers[j].sizeBytes <= a.offset;
            if (!apart && mustNotOverlap(problem, i, j))
                faults.push_back(
                    fault(problem.buffers[i], "overlaps " + core::quoted(problem.buffers[j].name)));
        }
    }
    return faults;
}

} // namespace tenon::compiler
