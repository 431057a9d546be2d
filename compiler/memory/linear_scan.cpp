// SPDX-License-Identifier: Apache-2.0
// linear_scan: buffers in program order, each into the smallest gap that holds it.
//
// Every pool keeps its gaps twice: by offset, to merge a freed gap with its neighbours, and by
// size, to find the smallest that fits (lowest offset on ties). O(n log n) when alignments are
// equal.
#include "compiler/memory/planners.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace tenon::compiler {
namespace {

constexpr int64_t kEndless = INT64_MAX / 4;

class GapList
{
public:
    explicit GapList(int64_t bytes) { insert(0, bytes); }

    /// Takes `size` bytes at a multiple of `alignment` out of the best gap.
    std::optional<int64_t> take(int64_t size, int64_t alignment)
    {
        for (auto it = m_bySize.lower_bound({size, 0}); it != m_bySize.end(); ++it) {
            const auto [gapSize, gapStart] = *it;
            const int64_t start = roundUp(gapStart, alignment);
            if (start + size > gapStart + gapSize) continue;
            erase(gapStart, gapSize);
            insert(gapStart, start - gapStart);
            insert(start + size, gapStart + gapSize - (start + size));
            return start;
        }
        return std::nullopt;
    }

    void give(int64_t start, int64_t size)
    {
        const auto after = m_byStart.lower_bound(start);
        if (after != m_byStart.begin()) {
            const auto before = std::prev(after);
            if (const auto [gapStart, gapSize] = *before; gapStart + gapSize == start) {
                erase(gapStart, gapSize);
                start = gapStart;
                size += gapSize;
            }
        }
        if (const auto next = m_byStart.find(start + size); next != m_byStart.end()) {
            const int64_t gapSize = next->second;
            erase(start + size, gapSize);
            size += gapSize;
        }
        insert(start, size);
    }

private:
    void insert(int64_t start, int64_t size)
    {
        if (size <= 0) return;
        m_byStart.emplace(start, size);
        m_bySize.emplace(size, start);
    }
    void erase(int64_t start, int64_t size)
    {
        m_byStart.erase(start);
        m_bySize.erase({size, start});
    }

    std::map<int64_t, int64_t> m_byStart;
    std::set<std::pair<int64_t, int64_t>> m_bySize;
};

/// By start, then larger first, then larger name first, as the other planners break ties.
std::vector<int> scanOrder(const std::vector<BufferInfo>& buffers)
{
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
        const BufferInfo& a = buffers[static_cast<size_t>(i)];
        const BufferInfo& b = buffers[static_cast<size_t>(j)];
        if (a.first != b.first) return a.first < b.first;
        return a.sizeBytes != b.sizeBytes ? a.sizeBytes > b.sizeBytes : a.name > b.name;
    });
    return order;
}

} // namespace

core::Result<PlannedBuffers> placeLinearScan(const PlanningProblem& problem, const PlannerLimits&)
{
    std::vector<GapList> pools;
    for (const Pool& pool : problem.pools)
        pools.emplace_back(pool.sizeHintBytes < 0 ? kEndless : pool.sizeHintBytes);
    std::vector<Placement> placements(problem.buffers.size());
    std::set<std::pair<int, int>> live; // (last point, buffer)
    for (const int index : scanOrder(problem.buffers)) {
        const BufferInfo& buffer = problem.buffers[static_cast<size_t>(index)];
        while (!live.empty() && live.begin()->first < buffer.first) {
            const size_t ended = static_cast<size_t>(live.begin()->second);
            pools[static_cast<size_t>(placements[ended].pool)].give(
                placements[ended].offset, problem.buffers[ended].sizeBytes);
            live.erase(live.begin());
        }
        for (const int pool : candidatePools(problem, index)) {
            const std::optional<int64_t> offset =
                pools[static_cast<size_t>(pool)].take(buffer.sizeBytes, buffer.alignment);
            if (!offset) continue;
            placements[static_cast<size_t>(index)] = {pool, *offset};
            break;
        }
        if (placements[static_cast<size_t>(index)].pool < 0) return poolsExceeded(buffer);
        live.emplace(buffer.last, index);
    }
    return PlannedBuffers{std::move(placements)};
}

} // namespace tenon::compiler
