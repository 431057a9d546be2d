// SPDX-License-Identifier: Apache-2.0
// The search from the bottom up, with what it cuts off; sections and parts of a plan.
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
constexpr size_t kMostFailed = 2'000'000; ///< states remembered: some 100 MB

bool overlap(const ExactBuffer& a, const ExactBuffer& b)
{
    return a.first <= b.last && b.first <= a.last;
}

/// The finalizer of MurmurHash3.
uint64_t mixed(uint64_t value)
{
    value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
    value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return value ^ (value >> 33);
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
    for (const ExactBuffer& buffer : m_buffers) {
        const auto from = std::lower_bound(points.begin(), points.end(), buffer.first);
        const auto to = std::upper_bound(points.begin(), points.end(), buffer.last);
        m_firstSection.push_back(static_cast<int>(from - points.begin()));
        m_endSection.push_back(static_cast<int>(to - points.begin()));
    }
    m_failures.assign(points.size(), 1);
    m_load.resize(points.size());
    m_top.resize(points.size());
    m_choices.resize(points.size());
}

void ExactSearch::reset()
{
    m_lowest.assign(m_buffers.size(), 0);
    m_reach.assign(m_buffers.size(), 0);
    m_isPassed.assign(m_buffers.size(), false);
    m_isPlaced.assign(m_buffers.size(), false);
    m_offset.assign(m_buffers.size(), 0);
    m_crossings.assign(m_load.size(), 0);
    m_trail.clear();
    for (size_t i = 0; i < m_buffers.size(); ++i)
        for (int s = m_firstSection[i] + 1; s < m_endSection[i]; ++s) ++m_crossings[at(s)];
}

std::vector<int64_t> ExactSearch::crowding() const
{
    std::vector<int64_t> load(m_load.size(), 0);
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
    if (m_failed.size() > kMostFailed) m_failed.clear();
    reset();
    std::vector<int> all(m_buffers.size());
    std::iota(all.begin(), all.end(), 0);
    for (Part& part : split(std::move(all)))
        if (const SearchEnd end = solve(std::move(part)); end != SearchEnd::Found) return end;
    return SearchEnd::Found;
}

/// Parts that share no program point; the smallest first.
std::vector<ExactSearch::Part> ExactSearch::split(std::vector<int> buffers) const
{
    std::stable_sort(buffers.begin(), buffers.end(),
                     [&](int a, int b) { return m_firstSection[at(a)] < m_firstSection[at(b)]; });
    std::vector<Part> parts;
    for (const int i : buffers) {
        if (parts.empty() || m_firstSection[at(i)] >= parts.back().end)
            parts.push_back({{}, m_firstSection[at(i)], 0});
        parts.back().buffers.push_back(i);
        parts.back().end = std::max(parts.back().end, m_endSection[at(i)]);
    }
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return a.buffers.size() < b.buffers.size();
    });
    return parts;
}

/// Whether a passed buffer's place can still be taken by another: one that nothing takes would
/// better have been used.
bool ExactSearch::canBeTaken(int buffer) const
{
    const int64_t top = m_lowest[at(buffer)] + m_buffers[at(buffer)].size;
    for (const int other : m_overlaps[at(buffer)])
        if (!m_isPlaced[at(other)] && m_reach[at(other)] < top) return true;
    return false;
}

/// Raises the reach of passed buffers to what they could rest on; false when one no longer fits.
bool ExactSearch::raisePassed(const Part& part)
{
    for (const int i : part.buffers) {
        if (!m_isPassed[at(i)]) continue;
        const int64_t top = *std::min_element(m_top.begin() + m_firstSection[at(i)],
                                              m_top.begin() + m_endSection[at(i)]);
        m_reach[at(i)] = std::max(m_reach[at(i)], roundUp(top, m_buffers[at(i)].alignment));
        if (m_reach[at(i)] > m_buffers[at(i)].lastOffset) return false;
    }
    return std::all_of(part.buffers.begin(), part.buffers.end(),
                       [&](int i) { return !m_isPassed[at(i)] || canBeTaken(i); });
}

/// For every offset of a section: what lies above must fit above. Leaves the sections' loads.
bool ExactSearch::isOverfull(Part& part)
{
    // Nearly sorted already, from the last time.
    std::vector<int>& order = part.buffers;
    for (size_t k = 1; k < order.size(); ++k) {
        const int moved = order[k];
        size_t to = k;
        for (; to > 0 && m_reach[at(order[to - 1])] < m_reach[at(moved)]; --to)
            order[to] = order[to - 1];
        order[to] = moved;
    }
    std::fill(m_load.begin() + part.from, m_load.begin() + part.end, 0);
    for (const int i : order) {
        const int64_t room = m_capacity - m_reach[at(i)];
        int64_t most = 0;
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s) {
            m_load[at(s)] += m_buffers[at(i)].size;
            most = std::max(most, m_load[at(s)]);
        }
        if (most <= room) continue;
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s)
            if (m_load[at(s)] > room) ++m_failures[at(s)];
        return true;
    }
    return false;
}

/// Whether the part cannot be placed; if it might, m_level, m_reach and m_load are its own.
bool ExactSearch::isHopeless(Part& part)
{
    m_level = kNone;
    for (const int i : part.buffers)
        if (!m_isPassed[at(i)]) m_level = std::min(m_level, m_lowest[at(i)]);
    if (m_level == kNone) return true; // all wait for one another
    std::fill(m_top.begin() + part.from, m_top.begin() + part.end, kNone);
    bool hasPassed = false;
    for (const int i : part.buffers) {
        const int64_t size = m_buffers[at(i)].size;
        hasPassed = hasPassed || m_isPassed[at(i)];
        if (m_isPassed[at(i)] && m_lowest[at(i)] + size <= m_level) return true;
        m_reach[at(i)] = std::max(m_lowest[at(i)], m_level);
        for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s)
            m_top[at(s)] = std::min(m_top[at(s)], m_reach[at(i)] + size);
    }
    if (hasPassed && !raisePassed(part)) return true;
    return isOverfull(part);
}

/// The lowest rank among the choices at m_level of the section that has few and failed often.
int ExactSearch::next(const Part& part)
{
    const auto isChoice = [&](int i) { return !m_isPassed[at(i)] && m_lowest[at(i)] == m_level; };
    std::fill(m_choices.begin() + part.from, m_choices.begin() + part.end, 0);
    for (const int i : part.buffers)
        if (isChoice(i))
            for (int s = m_firstSection[at(i)]; s < m_endSection[at(i)]; ++s) ++m_choices[at(s)];
    int section = -1;
    int64_t fewest = 0;
    for (int s = part.from; s < part.end; ++s) {
        if (m_choices[at(s)] == 0) continue;
        const bool mayStayEmpty = m_level + m_load[at(s)] < m_capacity;
        const int64_t choices = m_choices[at(s)] + (mayStayEmpty ? 1 : 0);
        // choices / failures, compared without rounding
        if (section >= 0 && choices * m_failures[at(section)] >= fewest * m_failures[at(s)])
            continue;
        section = s;
        fewest = choices;
    }
    int best = -1;
    for (const int i : part.buffers)
        if (isChoice(i) && m_firstSection[at(i)] <= section && section < m_endSection[at(i)] &&
            (best < 0 || m_rank[at(i)] < m_rank[at(best)]))
            best = i;
    return best;
}

/// What can come of a part depends on nothing else. 128 bits: no two states share them by chance.
ExactSearch::Key ExactSearch::key(const Part& part) const
{
    Key sum{0, 0};
    for (const int i : part.buffers) {
        const uint64_t state =
            2 * static_cast<uint64_t>(m_lowest[at(i)]) + (m_isPassed[at(i)] ? 1 : 0);
        const uint64_t hash = mixed(state + mixed(static_cast<uint64_t>(i) + 1));
        sum.first += hash;
        sum.second += mixed(hash ^ 0x9e3779b97f4a7c15ULL);
    }
    return sum;
}

/// Raises what overlaps a buffer just placed; false when one no longer fits.
bool ExactSearch::lift(int buffer, const std::vector<int>& rest)
{
    const int64_t top = m_offset[at(buffer)] + m_buffers[at(buffer)].size;
    for (const int other : rest) {
        if (m_lowest[at(other)] >= top || !overlap(m_buffers[at(buffer)], m_buffers[at(other)]))
            continue;
        m_trail.push_back({other, m_lowest[at(other)], m_isPassed[at(other)] != 0});
        m_lowest[at(other)] = roundUp(top, m_buffers[at(other)].alignment);
        m_isPassed[at(other)] = false;
        if (m_lowest[at(other)] > m_buffers[at(other)].lastOffset) return false;
    }
    return true;
}

/// Whether the unplaced buffers still cross every border between the buffer's sections.
bool ExactSearch::hasCrossing(int buffer) const
{
    return std::all_of(m_crossings.begin() + m_firstSection[at(buffer)] + 1,
                       m_crossings.begin() + m_endSection[at(buffer)],
                       [](int crossings) { return crossings > 0; });
}

/// Places the buffer and solves the rest.
SearchEnd ExactSearch::place(int buffer, const Part& part)
{
    m_isPlaced[at(buffer)] = true;
    m_offset[at(buffer)] = m_lowest[at(buffer)];
    for (int s = m_firstSection[at(buffer)] + 1; s < m_endSection[at(buffer)]; ++s)
        --m_crossings[at(s)];
    std::vector<int> rest;
    rest.reserve(part.buffers.size());
    for (const int i : part.buffers)
        if (i != buffer) rest.push_back(i);
    if (!lift(buffer, rest)) return SearchEnd::Infeasible;
    if (rest.empty()) return SearchEnd::Found;
    if (hasCrossing(buffer)) return solve({std::move(rest), part.from, part.end});
    for (Part& one : split(std::move(rest)))
        if (const SearchEnd end = solve(std::move(one)); end != SearchEnd::Found) return end;
    return SearchEnd::Found;
}

void ExactSearch::undo(size_t mark, const Part& part)
{
    for (; m_trail.size() > mark; m_trail.pop_back()) {
        m_lowest[at(m_trail.back().buffer)] = m_trail.back().lowest;
        m_isPassed[at(m_trail.back().buffer)] = m_trail.back().isPassed;
    }
    for (const int i : part.buffers) {
        if (!m_isPlaced[at(i)]) continue;
        m_isPlaced[at(i)] = false;
        for (int s = m_firstSection[at(i)] + 1; s < m_endSection[at(i)]; ++s) ++m_crossings[at(s)];
    }
}

bool ExactSearch::isOut()
{
    ++m_nodes;
    return --m_nodesLeft < 0 || (m_nodes % kNodesPerClockRead == 0 &&
                                 std::chrono::steady_clock::now() > m_limits.deadline);
}

/// Places one buffer after the other at the part's level, passing each that leads nowhere.
SearchEnd ExactSearch::decide(Part& part, std::vector<int>& passed, std::vector<Key>& states)
{
    while (!isHopeless(part)) {
        if (!m_failed.empty() && m_failed.contains(key(part))) break;
        const int buffer = next(part);
        const size_t mark = m_trail.size();
        const SearchEnd end = place(buffer, part);
        if (end == SearchEnd::Found) return end;
        undo(mark, part);
        if (end == SearchEnd::GaveUp) return end;
        states.push_back(key(part));
        m_isPassed[at(buffer)] = true;
        passed.push_back(buffer);
    }
    return SearchEnd::Infeasible;
}

SearchEnd ExactSearch::solve(Part part)
{
    if (isOut()) return SearchEnd::GaveUp;
    std::vector<int> passed;
    std::vector<Key> states;
    const SearchEnd end = decide(part, passed, states);
    if (end == SearchEnd::Found) return end;
    for (const int buffer : passed) m_isPassed[at(buffer)] = false;
    if (end == SearchEnd::Infeasible) m_failed.insert(states.begin(), states.end());
    return end;
}

} // namespace tenon::compiler
