// SPDX-License-Identifier: Apache-2.0
// no_sharing: one buffer behind the other in the first pool that has room.
#include "compiler/memory/planners.h"

#include <algorithm>

namespace tenon::compiler {

core::Result<PlannedBuffers> placeApart(const PlanningProblem& problem, const PlannerLimits&)
{
    PlannedBuffers out;
    std::vector<int64_t> ends(problem.pools.size(), 0);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const BufferInfo& buffer = problem.buffers[i];
        const std::vector<int> pools = candidatePools(problem, static_cast<int>(i));
        const auto offsetIn = [&](int pool) {
            return roundUp(ends[static_cast<size_t>(pool)], buffer.alignment);
        };
        const auto pool = std::find_if(pools.begin(), pools.end(), [&](int each) {
            return fits(problem.pools[static_cast<size_t>(each)],
                        offsetIn(each) + buffer.sizeBytes);
        });
        if (pool == pools.end()) return poolsExceeded(buffer);
        out.placements.push_back({*pool, offsetIn(*pool)});
        ends[static_cast<size_t>(*pool)] = offsetIn(*pool) + buffer.sizeBytes;
    }
    return out;
}

} // namespace tenon::compiler
