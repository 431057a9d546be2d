// SPDX-License-Identifier: Apache-2.0
// Depth-first search for a placement within a capacity: the core of the exact planner.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon::compiler {

/// A rectangle to place: live on [first, last], heights in any one unit.
struct ExactBuffer
{
    int first = 0;
    int last = 0;
    int64_t size = 0;
    int64_t alignment = 1;
    int64_t lastOffset = 0; ///< highest offset that keeps it within the capacity
};

enum class SearchEnd
{
    Found,
    Infeasible, ///< proven: there is no placement
    GaveUp      ///< out of nodes, or past the deadline
};

/// Builds placements from the bottom up. At the lowest level where anything can still be placed, a
/// buffer either comes to lie there or is passed: then it must rest on one that is not placed yet.
/// Cut off is what no plan needs in which no single buffer could lie lower:
///  - sections (sets of buffers live together) that cannot be emptied in time when each buffer
///  starts
///    at the lowest offset it can reach, as in preemptive scheduling of one machine,
///  - passed buffers whose place nothing that is left can take,
///  - states that failed before: what is unplaced, how low it can go, what was passed.
/// Parts that no longer share a program point are solved apart. The next buffer is one of the
/// section with the fewest choices for its number of failures so far, which later runs remember.
/// Sections and parts are after M. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
/// Hardware-Accelerated Machine Learning", ASPLOS 2023; counting failures after F. Boussemart et
/// al., "Boosting Systematic Search by Weighting Constraints", ECAI 2004.
class ExactSearch
{
public:
    /// `capacity` bounds the sizes of every section.
    ExactSearch(std::vector<ExactBuffer> buffers, int64_t capacity);

    struct Limits
    {
        int64_t nodes = 0;
        std::chrono::steady_clock::time_point deadline;
    };

    /// One search; of a section's choices the one with the lowest rank is tried first.
    SearchEnd run(const std::vector<int>& rank, const Limits& limits);

    /// Offsets of the last run that found a placement.
    const std::vector<int64_t>& offsets() const { return m_offset; }
    int64_t nodes() const { return m_nodes; } ///< of all runs
    /// Of each buffer: the largest sum of sizes among the sections it is in.
    std::vector<int64_t> crowding() const;

private:
    /// Unplaced buffers that are connected in time, and the sections from the first to the last.
    struct Part
    {
        std::vector<int> buffers;
        int from = 0;
        int end = 0;
    };

    struct Saved
    {
        int buffer;
        int64_t lowest;
        bool isPassed;
    };

    using Key = std::pair<uint64_t, uint64_t>;
    struct KeyHash
    {
        size_t operator()(const Key& key) const { return key.first; }
    };

    static size_t at(int index) { return static_cast<size_t>(index); }
    void findSections();
    void reset();
    Part wholePart() const;
    std::vector<Part> split(std::vector<int> buffers) const;
    SearchEnd solve(Part part);
    SearchEnd decide(Part& part, std::vector<int>& passed, std::vector<Key>& states);
    SearchEnd place(int buffer, const Part& part);
    void undo(size_t mark, const Part& part);
    bool lift(int buffer, const std::vector<int>& rest);
    bool isOut();

    bool isHopeless(Part& part);
    bool raisePassed(const Part& part);
    bool canBeTaken(int buffer) const;
    bool isOverfull(Part& part);
    bool hasCrossing(int buffer) const;
    int next(const Part& part);
    Key key(const Part& part) const;

    std::vector<ExactBuffer> m_buffers;
    int64_t m_capacity;
    std::vector<int> m_rank;
    std::vector<int> m_firstSection;
    std::vector<int> m_endSection;
    std::vector<std::vector<int>> m_overlaps;
    std::vector<int64_t> m_failures; ///< of each section, over all runs
    std::vector<int64_t> m_load;     ///< of each section: sizes of its unplaced buffers
    std::vector<int64_t> m_top;      ///< of each section: the lowest top one of its buffers can get
    std::vector<int> m_choices;      ///< of each section: buffers that can be placed at m_level
    std::vector<int> m_crossings;    ///< of each section: unplaced buffers also in the one before
    int64_t m_level = 0;             ///< nothing unplaced can lie lower
    std::vector<int64_t> m_lowest;   ///< of each buffer: the top of what it must rest on
    std::vector<int64_t> m_reach;    ///< of each buffer: the lowest offset it can still get
    std::vector<char> m_isPassed;    ///< not at m_lowest
    std::vector<char> m_isPlaced;
    std::vector<int64_t> m_offset;
    std::vector<Saved> m_trail;
    std::unordered_set<Key, KeyHash> m_failed; ///< hashes of states without a placement
    Limits m_limits;
    int64_t m_nodesLeft = 0;
    int64_t m_nodes = 0;
};

} // namespace tenon::compiler
