// SPDX-License-Identifier: Apache-2.0
// Checks plans the plain way: every pair of buffers, from the definitions alone.
#include "compiler/memory/check_plan.h"

#include "core/base/text.h"

#include <algorithm>

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
