// SPDX-License-Identifier: Apache-2.0
// exact: searches for a plan at the lower bound; failing that, for one smaller than hill_climb's,
// until it is proven that there is none.
//
//  1. Start from the best of the planners that place every buffer once; done when that meets the
//     lower bound.
//  2. Search at the wanted capacity (the pool's size, or else the lower bound): many short
//  searches,
//     each with another order of the buffers, their node limits growing until one ends.
//  3. Found: keep it. Proven infeasible: raise the bound. Gave up: take hill_climb's plan if that
//  is
//     smaller and try half way to the best one.
#include "compiler/memory/exact_search.h"
#include "compiler/memory/planners.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

namespace tenon::compiler {
namespace {

using Clock = std::chrono::steady_clock;

/// Ranks by lifetime, area, crowding, and by crowding, lifetime, area: largest first.
constexpr std::array<std::array<int, 3>, 2> kOrders = {{{0, 2, 1}, {1, 0, 2}}};
/// Each order is tried plain and with noise on its measures, so that no search repeats another.
constexpr std::array<double, 4> kNoise = {0, 0.1, 0, 0.3};
constexpr size_t kRoundSearches = kNoise.size() * kOrders.size();
constexpr double kGrowth = 1.3; ///< of the node limit, after one search with each order
constexpr double kMostNodesOfOne = 1e12;

int64_t peakOf(const PlanningProblem& problem, const std::vector<Placement>& placements)
{
    int64_t peak = 0;
    for (size_t i = 0; i < placements.size(); ++i)
        peak = std::max(peak, placements[i].offset + problem.buffers[i].sizeBytes);
    return peak;
}

class ExactPlanner
{
public:
    ExactPlanner(const PlanningProblem& problem, const PlannerLimits& limits)
        : m_problem(problem)
        , m_limits(limits)
        , m_deadline(limits.seconds > 0
                         ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(limits.seconds))
                         : Clock::time_point::max())
    {
        for (const BufferInfo& buffer : problem.buffers)
            m_unit = std::min(m_unit, std::max<int64_t>(buffer.alignment, 1));
    }

    /// Whether offsets can be counted in units of the smallest alignment.
    bool isSearchable() const
    {
        return m_problem.pools.size() == 1 &&
               std::all_of(m_problem.buffers.begin(), m_problem.buffers.end(),
                           [&](const BufferInfo& b) { return b.alignment % m_unit == 0; });
    }

    /// `problem` without a limit on its pool, `room` is that limit (-1: none).
    PlannedBuffers plan(int64_t room);

private:
    std::vector<Placement> start() const;
    void keep(std::vector<Placement> found);
    int64_t nextPeak(int64_t bytes) const;
    SearchEnd searchAt(int64_t capacityBytes, std::vector<Placement>& found);
    ExactSearch::Limits halfOfWhatIsLeft() const;
    std::vector<ExactBuffer> scaled(int64_t capacityBytes) const;
    std::vector<int> rank(const ExactSearch& search, size_t variant);
    bool isOutOfTime() const { return Clock::now() > m_deadline || m_nodesLeft <= 0; }

    const PlanningProblem& m_problem;
    const PlannerLimits& m_limits;
    Clock::time_point m_deadline;
    int64_t m_unit = INT64_MAX;
    int64_t m_nodesLeft = 0;
    std::vector<Placement> m_best;
    std::minstd_rand m_random; // the same numbers in every run
};

std::vector<ExactBuffer> ExactPlanner::scaled(int64_t capacityBytes) const
{
    std::vector<ExactBuffer> out;
    for (const BufferInfo& buffer : m_problem.buffers)
        out.push_back({buffer.first, buffer.last, roundUp(buffer.sizeBytes, m_unit) / m_unit,
                       buffer.alignment / m_unit, (capacityBytes - buffer.sizeBytes) / m_unit});
    return out;
}

std::vector<int> ExactPlanner::rank(const ExactSearch& search, size_t variant)
{
    const std::vector<int64_t> crowding = search.crowding();
    const std::array<int, 3>& order = kOrders[variant % kOrders.size()];
    std::vector<std::array<double, 3>> keys;
    for (size_t i = 0; i < crowding.size(); ++i) {
        const BufferInfo& buffer = m_problem.buffers[i];
        const double length = buffer.last - buffer.first + 1.0;
        const std::array<double, 3> measure = {length, static_cast<double>(crowding[i]),
                                               length * static_cast<double>(buffer.sizeBytes)};
        const double noise = 1 + kNoise[variant / kOrders.size()] *
                                     (static_cast<double>(m_random() % 2001) / 1000 - 1);
        keys.push_back({noise * measure[static_cast<size_t>(order[0])],
                        noise * measure[static_cast<size_t>(order[1])],
                        noise * measure[static_cast<size_t>(order[2])]});
    }
    std::vector<int> sorted(keys.size());
    for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<int>(i);
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) {
        return keys[static_cast<size_t>(a)] > keys[static_cast<size_t>(b)];
    });
    std::vector<int> ranks(sorted.size());
    for (size_t i = 0; i < sorted.size(); ++i)
        ranks[static_cast<size_t>(sorted[i])] = static_cast<int>(i);
    return ranks;
}

/// Of nodes and time, so that a target out of reach leaves some for another.
ExactSearch::Limits ExactPlanner::halfOfWhatIsLeft() const
{
    ExactSearch::Limits half{m_nodesLeft / 2 + 1, m_deadline};
    const auto now = Clock::now();
    if (m_deadline != Clock::time_point::max()) half.deadline = now + (m_deadline - now) / 2;
    return half;
}

SearchEnd ExactPlanner::searchAt(int64_t capacityBytes, std::vector<Placement>& found)
{
    for (const BufferInfo& buffer : m_problem.buffers)
        if (buffer.sizeBytes > capacityBytes) return SearchEnd::Infeasible;
    const ExactSearch::Limits limits = halfOfWhatIsLeft();
    // The topmost buffer of a section needs no padding, so the sums may exceed by less than a unit.
    ExactSearch search(scaled(capacityBytes), (capacityBytes + m_unit - 1) / m_unit);
    double nodes = 2 * static_cast<double>(m_problem.buffers.size());
    SearchEnd end = SearchEnd::GaveUp;
    for (size_t turn = 0; end == SearchEnd::GaveUp && search.nodes() < limits.nodes &&
                          Clock::now() <= limits.deadline;
         ++turn) {
        if (turn > 0 && turn % kOrders.size() == 0)
            nodes = std::min(kGrowth * nodes, kMostNodesOfOne);
        end = search.run(rank(search, turn % kRoundSearches),
                         {std::min(static_cast<int64_t>(nodes), limits.nodes - search.nodes()),
                          limits.deadline});
    }
    m_nodesLeft -= search.nodes();
    for (size_t i = 0; end == SearchEnd::Found && i < found.size(); ++i)
        found[i] = {0, search.offsets()[i] * m_unit};
    return end;
}

/// The smallest plan of those that place every buffer once.
std::vector<Placement> ExactPlanner::start() const
{
    std::vector<Placement> best = placeGreedyBySize(m_problem, m_limits)->placements;
    for (const auto place : {placeGreedyByConflicts, placeLinearScan}) {
        std::vector<Placement> other = place(m_problem, m_limits)->placements;
        if (peakOf(m_problem, other) < peakOf(m_problem, best)) best = std::move(other);
    }
    return best;
}

/// The lowest peak above `bytes` that a plan can have: offsets are whole units.
int64_t ExactPlanner::nextPeak(int64_t bytes) const
{
    int64_t next = INT64_MAX;
    for (const BufferInfo& buffer : m_problem.buffers) {
        const int64_t offset = std::max<int64_t>(bytes + 1 - buffer.sizeBytes, 0);
        next = std::min(next, roundUp(offset, m_unit) + buffer.sizeBytes);
    }
    return next;
}

void ExactPlanner::keep(std::vector<Placement> found)
{
    if (peakOf(m_problem, found) <= peakOf(m_problem, m_best)) m_best = std::move(found);
}

PlannedBuffers ExactPlanner::plan(int64_t room)
{
    m_best = start();
    m_nodesLeft = m_limits.nodes;
    int64_t bound = lowerBound(m_problem); // proven: nothing is smaller
    int64_t target = std::max(bound, room);
    int64_t step = 0; // above the bound; doubled with every target that is proven too small
    bool hasClimbed = false;
    while (peakOf(m_problem, m_best) > target && !isOutOfTime()) {
        std::vector<Placement> found = m_best;
        const SearchEnd end = searchAt(target, found);
        if (end == SearchEnd::GaveUp && !std::exchange(hasClimbed, true))
            found = placeHillClimb(m_problem, m_limits)->placements;
        keep(std::move(found));
        const int64_t peak = peakOf(m_problem, m_best);
        if (end == SearchEnd::Infeasible) {
            bound = nextPeak(target);
            target = bound + std::min(step, (peak - bound) / 2);
            step = std::max(2 * step, m_unit);
        } else if (end == SearchEnd::Found) {
            target = bound + (peak - bound) / 2;
        } else {
            target += std::max(m_unit, (peak - target) / 2);
        }
        if (peak <= room || (room >= 0 && bound > room)) break;
    }
    if (peakOf(m_problem, m_best) > std::max(bound, room) && !hasClimbed)
        keep(placeHillClimb(m_problem, m_limits)->placements);
    const bool isProven = peakOf(m_problem, m_best) <= bound;
    return {std::move(m_best), isProven};
}

} // namespace

core::Result<PlannedBuffers> placeExact(const PlanningProblem& problem, const PlannerLimits& limits)
{
    if (problem.buffers.empty()) return PlannedBuffers();
    PlanningProblem unlimited = problem;
    if (unlimited.pools.size() == 1) unlimited.pools[0].sizeHintBytes = Pool::kUnlimited;
    ExactPlanner planner(unlimited, limits);
    if (!planner.isSearchable()) return placeHillClimb(problem, limits);
    const PlannedBuffers planned = planner.plan(problem.pools[0].sizeHintBytes);
    for (size_t i = 0; i < planned.placements.size(); ++i)
        if (!fits(problem.pools[0], planned.placements[i].offset + problem.buffers[i].sizeBytes))
            return poolsExceeded(problem.buffers[i]);
    return planned;
}

} // namespace tenon::compiler
