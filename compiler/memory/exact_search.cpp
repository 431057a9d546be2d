// SPDX-License-Identifier: Apache-2.0
#include "compiler/memory/exact_search.h"

#include "compiler/memory/planners.h"

#include <algorithm>
#include <climits>
#include <numeric>
#include <set>

namespace tenon::compiler {
namespace {

constexpr int64_t kNone = INT64_MAX;
constexpr int64_t kNodesPerClockRead = 256;

bool overlap(const ExactBuffer& a, const ExactBuffer& b)
{
    return a.first <= b.last && b.first <= a.last;
}

} // namespace

ExactSearch::ExactSearch(std::vector<ExactBuffer> buffers, int64_t capacity)
    : m_buffers(std::move(buffers))
    , m_capacity(capacity)
    , m_overlaps(m_buffers.size())
{
    findSections();
    for (size_t i = 0; i < m_buffers.size(); ++i)
        for (size_t j = 0; j < m_buffers.size(); ++j)
            if (i != j && overlap(m_buffers[i], m_buffers[j]))
                m_overlaps[i].push_back(static_cast<int>(j));
}

/// Only sets of live buffers that are part of no other: those before an end that follows a start.
void ExactSearch::findSections()
{
    std::set<int> starts;
    std::set<int> ends;
    for (const ExactBuffer& buffer : m_buffers) {
        starts.insert(buffer.first);
        ends.insert(buffer.last);
    }
    std::vector<int> points; // one program point inside each section
    auto start = starts.begin();
    for (const int end : ends) {
        if (start == starts.end() || *start > end) continue;
        start = starts.upper_bound(end);
        points.push_back(end);
    }
    m_floor.resize(points.size());
    m_top.resize(points.size());
    for (const ExactBuffer& buffer : m_buffers) {
        const auto from = std::lower_bound(points.begin(), points.end(), buffer.first);
        const auto to = std::upper_bound(points.begin(), points.end(), buffer.last);
        m_firstSection.push_back(static_cast<int>(from - points.begin()));
        m_endSection.push_back(static_cast<int>(to - points.begin()));
    }
}

void ExactSearch::reset()
{
    m_lowest.assign(m_buffers.size(), 0);
    m_isPlaced.assign(m_buffers.size(), false);
    m_offset.assign(m_buffers.size(), 0);
    m_load.assign(m_floor.size(), 0);
    m_trail.clear();
    for (size_t i = 0; i < m_buffers.size(); ++i)
        for (int s = m_firstSection[i]; s < m_endSection[i]; ++s)
            m_load[at(s)] += m_buffers[i].size;
}

std::vector<int64_t> ExactSearch::crowding() const
{
    std::vector<int64_t> load(m_floor.size(), 0);
    for (size_t i = 0; i < m_buffers.size(); ++i)
        for (int s = m_firstSection[i]; s < m_endSection[i]; ++s) load[at(s)] += m_buffers[i].size;
    std::vector<int64_t> most(m_buffers.size(), 0);
    for (size_t i = 0; i < m_buffers.size(); ++i)
        for (int s = m_firstSection[i]; s < m_endSection[i]; ++s)
            most[i] = std::max(most[i], load[at(s)]);
    return most;
}

SearchEnd ExactSearch::run(const std::vector<int>& rank, const Limits& limits)
{
    m_rank = rank;
    m_limits = limits;
    m_nodesLeft = limits.nodes;
    reset();
    for (const int64_t load : m_load)
        if (load > m_capacity) return SearchEnd::Infeasible;
    Part all(m_buffers.size());
    std::iota(all.begin(), all.end(), 0);
    std::stable_sort(all.begin(), all.end(),
                     [&](int a, int b) { return m_buffers[at(a)].first < m_buffers[at(b)].first; });
    for (const Part& part : split(all))
        if (const SearchEnd end = solve(part, 0, 0); end != SearchEnd::Found) return end;
    m_found = m_offset;
    return SearchEnd::Found;
}

/// Parts of `part`, itself by start, that share no program point; the smallest first.
std::vector<ExactSearch::Part> ExactSearch::split(const Part& part) const
{
    std::vector<Part> parts;
    int reach = INT_MIN;
    for (const int i : part) {
        if (parts.empty() || m_buffers[at(i)].first > reach) parts.emplace_back();
        parts.back().push_back(i);
        reach = std::max(reach, m_buffers[at(i)].last);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.size() < b.size(); });
    return parts;
}

/// No section of the buffer would be left with more than still fits on top of it.
bool ExactSearch::fitsSections(int buffer) const
{
    for (int s = m_firstSection[at(buffer)]; s < m_endSection[at(buffer)]; ++s)
        if (m_lowest[at(buffer)] + m_load[at(s)] > m_capacity) return false;
    return true;
}

/// What may be placed next, lowest first.
std::vector<int> ExactSearch::candidates(const Part& part, int64_t floor, int floorRank) const
{
    int64_t lowestTop = kNone;
    for (const int i : part)
        lowestTop = std::min(lowestTop, m_lowest[at(i)] + m_buffers[at(i)].size);
    std::vector<int> next;
    for (const int i : part) {
        const int64_t offset = m_lowest[at(i)];
        const bool isInOrder = offset > floor || (offset == floor && m_rank[at(i)] >= floorRank);
        if (isInOrder && offset < lowestTop && fitsSections(i)) next.push_back(i);
    }
    std::sort(next.begin(), next.end(), [&](int a, int b) {
        return m_lowest[at(a)] != m_lowest[at(b)] ? m_lowest[at(a)] < m_lowest[at(b)]
                                                  : m_rank[at(a)] < m_rank[at(b)];
    });
    return next;
}

/// Raises what overlaps a buffer just placed; false when one no longer fits.
bool ExactSearch::lift(int buffer)
{
    const int64_t top = m_offset[at(buffer)] + m_buffers[at(buffer)].size;
    for (const int other : m_overlaps[at(buffer)]) {
        if (m_isPlaced[at(other)] || m_lowest[at(other)] >= top) continue;
        m_trail.push_back({other, m_lowest[at(other)]});
        m_lowest[at(other)] = roundUp(top, m_buffers[at(other)].alignment);
        if (m_lowest[at(other)] > m_buffers[at(other)].lastOffset) return false;
    }
    return true;
}

bool ExactSearch::touches(int buffer, Obstacle obstacle) const
{
    if (obstacle.section >= 0)
        return m_firstSection[at(buffer)] <= obstacle.section &&
               obstacle.section < m_endSection[at(buffer)];
    return overlap(m_buffers[at(buffer)], m_buffers[at(obstacle.buffer)]);
}

void ExactSearch::findTops(const Part& rest, int64_t floor)
{
    for (const int i : rest) {
        const int64_t top = std::max(m_lowest[at(i)], floor) + m_buffers[at(i)].size;
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s)
            m_top[at(s)] = std::min(m_top[at(s)], top);
    }
}

/// The lowest offset an unplaced buffer can still get: one passed over must first be lifted by
/// another.
int64_t ExactSearch::reachable(int buffer, int64_t floor, int floorRank) const
{
    const int64_t lowest = m_lowest[at(buffer)];
    if (lowest > floor || (lowest == floor && m_rank[at(buffer)] >= floorRank)) return lowest;
    return *std::min_element(m_top.begin() + m_firstSection[at(buffer)],
                             m_top.begin() + m_endSection[at(buffer)]);
}

/// Why the rest cannot be placed at `floor` or above; none when it might.
ExactSearch::Obstacle ExactSearch::findObstacle(const Part& rest, int64_t floor, int floorRank)
{
    const int from = m_firstSection[at(rest.front())];
    int end = from;
    for (const int i : rest) end = std::max(end, m_endSection[at(i)]);
    std::fill(m_floor.begin() + from, m_floor.begin() + end, kNone);
    std::fill(m_top.begin() + from, m_top.begin() + end, kNone);
    findTops(rest, floor);
    for (const int i : rest) {
        const int64_t lowest = reachable(i, floor, floorRank);
        if (lowest > m_buffers[at(i)].lastOffset) return {.buffer = i};
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s)
            m_floor[at(s)] = std::min(m_floor[at(s)], lowest);
    }
    for (int s = from; s < end; ++s)
        if (m_floor[at(s)] != kNone && m_floor[at(s)] + m_load[at(s)] > m_capacity)
            return {.section = s};
    return {};
}

/// Places the buffer and solves the rest; `obstacle` says why that cannot be.
SearchEnd ExactSearch::place(int buffer, const Part& part, Obstacle& obstacle)
{
    m_isPlaced[at(buffer)] = true;
    m_offset[at(buffer)] = m_lowest[at(buffer)];
    for (int s = m_firstSection[at(buffer)]; s < m_endSection[at(buffer)]; ++s)
        m_load[at(s)] -= m_buffers[at(buffer)].size;
    if (!lift(buffer)) return SearchEnd::Infeasible;
    Part rest;
    rest.reserve(part.size());
    for (const int i : part)
        if (i != buffer) rest.push_back(i);
    const int64_t floor = m_offset[at(buffer)];
    if (rest.empty()) return SearchEnd::Found;
    obstacle = findObstacle(rest, floor, m_rank[at(buffer)]);
    if (obstacle) return SearchEnd::Infeasible;
    for (const Part& one : split(rest))
        if (const SearchEnd end = solve(one, floor, m_rank[at(buffer)]); end != SearchEnd::Found)
            return end;
    return SearchEnd::Found;
}

void ExactSearch::undo(size_t mark, const Part& part)
{
    for (; m_trail.size() > mark; m_trail.pop_back())
        m_lowest[at(m_trail.back().buffer)] = m_trail.back().lowest;
    for (const int i : part) {
        if (!m_isPlaced[at(i)]) continue;
        m_isPlaced[at(i)] = false;
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s)
            m_load[at(s)] += m_buffers[at(i)].size;
    }
}

SearchEnd ExactSearch::solve(const Part& part, int64_t floor, int floorRank)
{
    ++m_nodes;
    if (--m_nodesLeft < 0) return SearchEnd::GaveUp;
    if (m_nodes % kNodesPerClockRead == 0 && std::chrono::steady_clock::now() > m_limits.deadline)
        return SearchEnd::GaveUp;
    // In the way whatever comes next, unless that touches them: offsets only grow.
    std::vector<Obstacle> standing;
    for (const int buffer : candidates(part, floor, floorRank)) {
        const auto isTouched = [&](Obstacle obstacle) { return touches(buffer, obstacle); };
        if (!std::all_of(standing.begin(), standing.end(), isTouched)) continue;
        const size_t mark = m_trail.size();
        const int64_t offset = m_lowest[at(buffer)];
        Obstacle obstacle;
        const SearchEnd end = place(buffer, part, obstacle);
        if (end == SearchEnd::Found) return end;
        undo(mark, part);
        if (end == SearchEnd::GaveUp) return end;
        if (!obstacle || isTouched(obstacle)) continue;
        obstacle = findObstacle(part, offset, m_rank[at(buffer)]); // without what this one lifted
        if (obstacle) standing.push_back(obstacle);
    }
    return SearchEnd::Infeasible;
}

} // namespace tenon::compiler
