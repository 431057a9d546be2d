// SPDX-License-Identifier: Apache-2.0
// One walk over starts and ends serves the curve and its peak.
#include "compiler/memory/live_bytes.h"

#include "compiler/memory/lifetime_events.h"
#include "compiler/memory/planners.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

int64_t smallestAlignment(const std::vector<BufferInfo>& buffers)
{
    int64_t smallest = INT64_MAX;
    for (const BufferInfo& buffer : buffers) smallest = std::min(smallest, buffer.alignment);
    return buffers.empty() ? 1 : std::max<int64_t>(smallest, 1);
}

/// Tells `visit(event, bytes)` what is live after each start and end.
template <class Visit>
void walkLiveBytes(const PlanningProblem& problem, const Visit& visit)
{
    // Rounding to the smallest alignment keeps this a bound when alignments differ.
    const int64_t alignment = smallestAlignment(problem.buffers);
    int64_t live = 0;
    std::multiset<int64_t> slack; // padding of the live buffers
    for (const LifetimeEvent& event : lifetimeEvents(problem.buffers)) {
        const int64_t size = problem.buffers[static_cast<size_t>(event.buffer)].sizeBytes;
        const int64_t aligned = roundUp(size, alignment);
        live += event.isEnd ? -aligned : aligned;
        if (event.isEnd)
            slack.erase(slack.find(aligned - size));
        else
            slack.insert(aligned - size);
        int64_t unpadded = live;
        size_t tops = problem.pools.size();
        for (auto it = slack.rbegin(); it != slack.rend() && tops > 0; ++it, --tops)
            unpadded -= *it;
        visit(event, unpadded);
    }
}

} // namespace

int64_t peakLiveBytes(const PlanningProblem& problem)
{
    int64_t peak = 0;
    walkLiveBytes(problem,
                  [&](const LifetimeEvent&, int64_t bytes) { peak = std::max(peak, bytes); });
    return peak;
}

std::vector<int64_t> liveBytes(const PlanningProblem& problem)
{
    if (!problem.hasLifetimes) return {};
    int last = -1;
    for (const BufferInfo& buffer : problem.buffers) last = std::max(last, buffer.last);
    std::vector<int64_t> bytes(static_cast<size_t>(last + 1), 0);
    // Starts come before ends at a point, so what is live there is known after its last start;
    // between two events nothing changes.
    int64_t current = 0;
    int64_t next = 0; // first point that has no value yet
    walkLiveBytes(problem, [&](const LifetimeEvent& event, int64_t live) {
        const int64_t until = event.isEnd ? event.point + 1 : event.point;
        for (; next < until; ++next) bytes[static_cast<size_t>(next)] = current;
        current = live;
    });
    return bytes;
}

} // namespace tenon::compiler
