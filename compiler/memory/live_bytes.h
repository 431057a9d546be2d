// SPDX-License-Identifier: Apache-2.0
// What no plan can do without, point by point: the curve whose peak is the lower bound.
#pragma once

#include "compiler/memory/memory_plan.h"

#include <vector>

namespace tenon::compiler {

/// For every program point from 0 to the last one: aligned sizes of the buffers that are alive
/// there, less the padding of the one that ends each pool. Empty without lifetimes.
std::vector<int64_t> liveBytes(const PlanningProblem& problem);

/// The largest of liveBytes(), without a value for every point: lowerBound().
int64_t peakLiveBytes(const PlanningProblem& problem);

} // namespace tenon::compiler
