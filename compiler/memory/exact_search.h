// SPDX-License-Identifier: Apache-2.0
// Depth-first search for a placement within a capacity: the core of the exact planner.
#pragma once

#include <chrono>
#include <cstdint>
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

/// Searches placements in canonical order: buffers by non-decreasing offset, each on top of what it
/// rests on. Cut off are
///  - sections (sets of buffers live together) whose floor plus unplaced sizes exceeds the
///  capacity,
///  - offsets at or above the lowest top that an unplaced buffer could still reach (dominance),
///  - whole branches once one of several parts that no longer share a program point has failed.
/// After M. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
/// Learning", ASPLOS 2023; also cut here are buffers passed over that nothing can lift any more.
class ExactSearch
{
public:
    /// `capacity` bounds the floor plus sizes of every section.
    ExactSearch(std::vector<ExactBuffer> buffers, int64_t capacity);

    struct Limits
    {
        int64_t nodes = 0;
        std::chrono::steady_clock::time_point deadline;
    };

    /// One search; `rank[i]` breaks ties: lower ranks are placed first.
    SearchEnd run(const std::vector<int>& rank, const Limits& limits);

    /// Offsets of the last run that found a placement.
    const std::vector<int64_t>& offsets() const { return m_found; }
    int64_t nodes() const { return m_nodes; } ///< of all runs
    /// Of each buffer: the largest sum of sizes among the sections it is in.
    std::vector<int64_t> crowding() const;

private:
    using Part = std::vector<int>; ///< unplaced buffers by start, connected in time

    struct Saved
    {
        int buffer;
        int64_t lowest;
    };

    /// What makes a state hopeless: a buffer that cannot be lifted any more, or a section too full.
    struct Obstacle
    {
        int buffer = -1;
        int section = -1;
        explicit operator bool() const { return buffer >= 0 || section >= 0; }
    };

    static size_t at(int index) { return static_cast<size_t>(index); }
    void findSections();
    void reset();
    SearchEnd solve(const Part& part, int64_t floor, int floorRank);
    SearchEnd place(int buffer, const Part& part, Obstacle& obstacle);
    void undo(size_t mark, const Part& part);
    std::vector<int> candidates(const Part& part, int64_t floor, int floorRank) const;
    bool fitsSections(int buffer) const;
    bool lift(int buffer);
    bool touches(int buffer, Obstacle obstacle) const;
    Obstacle findObstacle(const Part& rest, int64_t floor, int floorRank);
    void findTops(const Part& rest, int64_t floor);
    int64_t reachable(int buffer, int64_t floor, int floorRank) const;
    std::vector<Part> split(const Part& part) const;

    std::vector<ExactBuffer> m_buffers;
    int64_t m_capacity;
    std::vector<int> m_rank;
    std::vector<int> m_firstSection;
    std::vector<int> m_endSection;
    std::vector<std::vector<int>> m_overlaps;
    std::vector<int64_t> m_load;   ///< of each section: sizes of its unplaced buffers
    std::vector<int64_t> m_floor;  ///< scratch of findObstacle, by section
    std::vector<int64_t> m_top;    ///< of each section: the lowest top one of its buffers can reach
    std::vector<int64_t> m_lowest; ///< of each buffer: the top of what it must rest on
    std::vector<bool> m_isPlaced;
    std::vector<int64_t> m_offset;
    std::vector<int64_t> m_found;
    std::vector<Saved> m_trail;
    Limits m_limits;
    int64_t m_nodesLeft = 0;
    int64_t m_nodes = 0;
};

} // namespace tenon::compiler
