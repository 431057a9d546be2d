// SPDX-License-Identifier: Apache-2.0
// Copies that read along one axis and write along another: transpositions and changes of layout.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Tiles of the axis that is read contiguously and the one that is written so: a line that was read
/// for one vector is used for the next ones. The loops outside that threads may share, or nothing
/// when there is no such tile.
std::optional<std::vector<std::string>> tileCrossing(Schedule& schedule, const std::string& block,
                                                     int64_t lanes, const TargetFacts& facts);

/// The same for copies of open sizes: whole tiles, and what is left of them element by element.
std::optional<std::vector<std::string>> tileOpenCrossing(Schedule& schedule,
                                                         const std::string& block, int64_t lanes);

} // namespace tenon::compiler
