// SPDX-License-Identifier: Apache-2.0
// Elements that take turns in what is written, each part of them side by side in what is read:
// pixels that channels become, and joined phases.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

struct Interleaving
{
    int64_t parts;  ///< that take turns
    size_t ownAxes; ///< trailing axes: 2 where the last one counts the parts, 1 where it has both
    int64_t neighbours; ///< of one part, or as many as come into order cheaply
    int64_t whole = 0;  ///< elements of the last axis that take whole turns, where others follow
};

/// Nothing where vectors of each part would not be read side by side.
std::optional<Interleaving> interleavingOf(const tir::Stmt& block, const TargetFacts& facts);
/// A vector of each part for every step; `loops` are those of the trailing axes.
void interleave(Schedule& schedule, const Interleaving& found,
                const std::vector<std::string>& loops, int64_t lanes);

} // namespace tenon::compiler
