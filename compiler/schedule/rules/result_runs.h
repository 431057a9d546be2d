// SPDX-License-Identifier: Apache-2.0
// Reductions whose results lie side by side, where sizes are known at run time only or what is
// reduced lies far apart.
#pragma once

#include "compiler/schedule/rules/rule.h"

#include <string>

namespace tenon::compiler {

/// Loops that reduce several vectors of neighbouring results together, step by step: as many axes
/// as lie side by side are one run, the last vectors of which have masks where nobody knows its
/// length. False, and nothing was done, where every size is known or results do not lie so.
bool reduceResultRuns(Schedule& schedule, const std::string& block, const TargetFacts& facts);

} // namespace tenon::compiler
