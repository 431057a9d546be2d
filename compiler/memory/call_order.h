// SPDX-License-Identifier: Apache-2.0
// In which order calls need the least memory at once.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <cstdint>
#include <vector>

namespace tenon::compiler {

/// Calls in an order that is allowed, and the memory they need from their first use to their last.
struct CallGraph
{
    std::vector<std::vector<int>> before;  ///< of each call: calls that must come first
    std::vector<std::vector<int>> buffers; ///< of each call: what it reads or writes, each once
    std::vector<int64_t> bytes;            ///< of each buffer
};

/// The most bytes that are needed at once.
int64_t peakOfCalls(const CallGraph& graph, const std::vector<int>& order);

/// An order with a lower peak where one is found, else the given one: 0, 1, 2, ... Each stretch of
/// calls between two points with at most one buffer alive is searched alone, then all calls
/// together, by a beam that keeps the sets of done calls with the lowest peak, then the fewest
/// bytes alive; the longer the stretch, the narrower the beam.
std::vector<int> orderCallsByPeak(const CallGraph& graph);

/// The buffers, alive as the order says, as a problem for a planner.
PlanningProblem problemOfCalls(const CallGraph& graph, const std::vector<int>& order,
                               int64_t alignment);

} // namespace tenon::compiler
