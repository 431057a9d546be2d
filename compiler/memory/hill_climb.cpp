// SPDX-License-Identifier: Apache-2.0
// hill_climb: repeats a gap-filling greedy placement while swapping two buffers of its order.
//
// One climb:
//  1. Place the buffers in order; each goes to the lowest offset that its placed conflicts leave
//  free.
//  2. Accept the plan when it is smaller than the accepted one, or rarely when it is not (the
//  chance
//     falls with the attempts); otherwise undo the last swap. The best plan seen is kept.
//  3. Take a buffer at the top of a pool. Among its conflicts earlier in the order, and among
//  theirs,
//     choose two buffers and swap them. Stop at the lower bound or after the given attempts.
// The first climb starts from greedy_by_size with the random numbers of glibc's rand_r(0), as TVM's
// does; further, shorter climbs start from other orders while the bound is not reached.
#include "compiler/memory/planners.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tenon::compiler {
namespace {

constexpr int kAttempts = 500;
constexpr int kFurtherAttempts = 120;
/// Conflicts that are looked at, in all climbs together: of thousands of buffers that all conflict,
/// few attempts are made. Counted, so that every computer makes the same plan.
constexpr int64_t kMostLooks = 20'000'000;

/// glibc's rand_r.
class Random
{
public:
    uint32_t next()
    {
        uint32_t result = step() % 2048;
        result = (result << 10) ^ (step() % 1024);
        result = (result << 10) ^ (step() % 1024);
        return result;
    }
    size_t below(size_t count) { return next() % count; }

private:
    uint32_t step()
    {
        m_state = m_state * 1103515245u + 12345u;
        return m_state / 65536u;
    }
    uint32_t m_state = 0;
};

struct Attempt
{
    std::vector<Placement> placements;
    std::vector<int64_t> peaks;
    int64_t total = 0;
    int unfit = -1; ///< first buffer that found no room
};

class Climb
{
public:
    /// `looks` counts down.
    Climb(const PlanningProblem& problem, std::vector<int> order, int64_t& looks)
        : m_problem(problem)
        , m_looks(looks)
        , m_order(std::move(order))
        , m_position(m_order.size())
    {
        for (size_t i = 0; i < m_order.size(); ++i) m_position[at(m_order[i])] = i;
    }

    /// Runs at most `attempts` placements; updates `best` when it finds a smaller plan that fits.
    void run(int attempts, int64_t bound, Attempt& best);

private:
    /// Bytes that a conflicting buffer holds, and where the next one may start.
    struct Taken
    {
        int64_t offset;
        int64_t next;
        int pool;
    };

    static size_t at(int index) { return static_cast<size_t>(index); }

    Attempt placed(const Attempt& before, size_t from);
    Placement lowestGap(int index, const std::vector<Placement>& placements);
    std::optional<std::pair<int, int>> chosenSwap(const Attempt& attempt);
    std::vector<int> earlierConflicts(const std::vector<int>& of) const;
    void swapPositions(std::pair<int, int> swap);

    const std::vector<int>& conflictsOf(int index) const
    {
        m_looks -= static_cast<int64_t>(m_problem.conflicts[at(index)].size());
        return m_problem.conflicts[at(index)];
    }

    const PlanningProblem& m_problem;
    int64_t& m_looks;
    std::vector<int> m_order;
    std::vector<size_t> m_position; ///< of each buffer in m_order
    std::vector<Taken> m_around;    ///< scratch of lowestGap
    Random m_random;
};

Placement Climb::lowestGap(int index, const std::vector<Placement>& placements)
{
    const BufferInfo& buffer = m_problem.buffers[at(index)];
    m_around.clear();
    for (const int other : conflictsOf(index)) {
        const Placement placed = placements[at(other)];
        if (placed.pool < 0) continue;
        const BufferInfo& taken = m_problem.buffers[at(other)];
        const int64_t end = roundUp(placed.offset + taken.sizeBytes, taken.alignment);
        m_around.push_back({placed.offset, roundUp(end, buffer.alignment), placed.pool});
    }
    std::sort(m_around.begin(), m_around.end(),
              [](const Taken& a, const Taken& b) { return a.offset < b.offset; });
    for (const int pool : candidatePools(m_problem, index)) {
        int64_t offset = 0;
        for (const Taken& taken : m_around) {
            if (taken.pool != pool) continue;
            if (offset + buffer.sizeBytes <= taken.offset) break;
            offset = std::max(offset, taken.next);
        }
        if (fits(m_problem.pools[at(pool)], offset + buffer.sizeBytes)) return {pool, offset};
    }
    return {};
}

/// Places the buffers from position `from` on; those before lie as they did, since nothing behind a
/// buffer moves it.
Attempt Climb::placed(const Attempt& before, size_t from)
{
    Attempt attempt;
    attempt.placements.resize(m_order.size());
    attempt.peaks.assign(m_problem.pools.size(), 0);
    for (size_t i = 0; i < m_order.size(); ++i) {
        const int index = m_order[i];
        const Placement placement =
            i < from ? before.placements[at(index)] : lowestGap(index, attempt.placements);
        if (placement.pool < 0) {
            if (attempt.unfit < 0) attempt.unfit = index;
            continue;
        }
        attempt.placements[at(index)] = placement;
        int64_t& peak = attempt.peaks[at(placement.pool)];
        peak = std::max(peak, placement.offset + m_problem.buffers[at(index)].sizeBytes);
    }
    attempt.total = std::accumulate(attempt.peaks.begin(), attempt.peaks.end(), int64_t{0});
    return attempt;
}

/// Conflicts of the given buffers that stand before them in the order, by position, without
/// repeats.
std::vector<int> Climb::earlierConflicts(const std::vector<int>& of) const
{
    std::vector<bool> isFound(m_order.size(), false); // by position
    for (const int index : of)
        for (const int other : conflictsOf(index))
            if (m_position[at(other)] < m_position[at(index)])
                isFound[m_position[at(other)]] = true;
    std::vector<int> found;
    for (size_t i = 0; i < m_order.size(); ++i)
        if (isFound[i]) found.push_back(m_order[i]);
    return found;
}

std::optional<std::pair<int, int>> Climb::chosenSwap(const Attempt& attempt)
{
    std::vector<int> tops;
    for (const int index : m_order) {
        const Placement placement = attempt.placements[at(index)];
        if (placement.pool < 0 || placement.offset + m_problem.buffers[at(index)].sizeBytes ==
                                      attempt.peaks[at(placement.pool)])
            tops.push_back(index);
    }
    if (tops.empty()) return std::nullopt;
    const std::vector<int> first = earlierConflicts({tops[m_random.below(tops.size())]});
    const std::vector<int> second = earlierConflicts(first);
    if (first.empty())
        return std::pair(tops.front(), tops.front()); // nothing below it; try another
    const int one = first[m_random.below(first.size())];
    int other = one;
    while (other == one) {
        const bool deeper = !second.empty() && m_random.below(100) > 25;
        const std::vector<int>& from = deeper ? second : first;
        other = from[m_random.below(from.size())];
        if (first.size() < 2 && second.size() < 2) break;
    }
    return std::pair(one, other);
}

void Climb::swapPositions(std::pair<int, int> swap)
{
    std::swap(m_order[m_position[at(swap.first)]], m_order[m_position[at(swap.second)]]);
    std::swap(m_position[at(swap.first)], m_position[at(swap.second)]);
}

void Climb::run(int attempts, int64_t bound, Attempt& best)
{
    int64_t accepted = -1;
    std::pair<int, int> lastSwap{0, 0};
    Attempt current;
    size_t firstMoved = 0; ///< position from which the order differs from that of `current`
    for (int attempt = 1; attempt <= attempts; ++attempt) {
        Attempt trial = placed(current, firstMoved);
        const bool fitsAll = trial.unfit < 0;
        if (fitsAll && (best.placements.empty() || trial.total < best.total)) best = trial;
        if (fitsAll && trial.total <= bound) return;
        bool isAccepted = accepted < 0;
        if (!isAccepted && fitsAll) {
            const int64_t worse = std::max<int64_t>(trial.total - accepted, 0);
            const int64_t chance = 50 * worse / std::max<int64_t>(trial.total, 1) / attempt;
            isAccepted =
                trial.total < accepted || static_cast<int64_t>(m_random.below(100)) < chance;
        }
        if (isAccepted) {
            if (fitsAll) accepted = trial.total;
            current = std::move(trial);
        } else {
            swapPositions(lastSwap);
        }
        if (m_looks <= 0) return;
        const std::optional<std::pair<int, int>> swap = chosenSwap(current);
        if (!swap) return;
        firstMoved = std::min(m_position[at(swap->first)], m_position[at(swap->second)]);
        swapPositions(*swap);
        lastSwap = *swap;
    }
}

std::vector<int> orderByArea(const PlanningProblem& problem)
{
    std::vector<int> order = orderBySize(problem);
    const auto area = [&](int i) {
        const BufferInfo& buffer = problem.buffers[static_cast<size_t>(i)];
        return static_cast<double>(buffer.sizeBytes) * (buffer.last - buffer.first + 1.0);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return area(a) > area(b); });
    return order;
}

std::vector<int> orderByStart(const PlanningProblem& problem)
{
    std::vector<int> order = orderBySize(problem);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return problem.buffers[static_cast<size_t>(a)].first <
               problem.buffers[static_cast<size_t>(b)].first;
    });
    return order;
}

std::vector<int> orderByLifetime(const PlanningProblem& problem)
{
    std::vector<int> order = orderBySize(problem);
    const auto length = [&](int i) {
        const BufferInfo& buffer = problem.buffers[static_cast<size_t>(i)];
        return buffer.last - buffer.first;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return length(a) > length(b); });
    return order;
}

} // namespace

core::Result<PlannedBuffers> placeHillClimb(const PlanningProblem& problem,
                                            const PlannerLimits& limits)
{
    Attempt best;
    const int64_t bound = lowerBound(problem);
    const std::vector<int> bySize = orderBySize(problem);
    if (bySize.empty()) return PlannedBuffers();
    int64_t looks = kMostLooks;
    Climb(problem, bySize, looks).run(kAttempts, bound, best);
    const auto isDone = [&] {
        return looks <= 0 || (!best.placements.empty() && best.total <= bound);
    };
    std::vector<std::vector<int>> further;
    if (!isDone() && problem.hasLifetimes)
        further = {orderByArea(problem), orderByLifetime(problem), orderByStart(problem)};
    if (!isDone()) further.push_back(orderByConflicts(problem));
    for (std::vector<int>& order : further)
        if (!isDone()) Climb(problem, std::move(order), looks).run(kFurtherAttempts, bound, best);
    if (!best.placements.empty()) return PlannedBuffers{std::move(best.placements)};
    // Name a buffer that found no room in the plain greedy order.
    return placeGreedyBySize(problem, limits);
}

} // namespace tenon::compiler
