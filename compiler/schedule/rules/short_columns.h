// SPDX-License-Identifier: Apache-2.0
// Reductions of rows that are shorter than a vector: those of several rows lie side by side.
#pragma once

#include "compiler/schedule/rules/rule.h"

#include <string>

namespace tenon::compiler {

/// Loops for a reduction over the rows of a table of few columns, in vectors of whole rows: each
/// lane reduces a strand, and the block itself then reduces the strands. False, and nothing was
/// done, where it is none of these.
bool reduceShortColumns(Schedule& schedule, const std::string& block, const TargetFacts& facts);

} // namespace tenon::compiler
