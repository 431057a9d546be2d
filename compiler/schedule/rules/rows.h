// SPDX-License-Identifier: Apache-2.0
// Loops over rows whose last axis is reduced and normalised: softmax, and attention's scores.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <string>

namespace tenon::compiler {

/// A reduction of rows in strands, one per lane of `vectors` vectors (long ones only), that are
/// summed at the end. To be called while each block has loops of its own; leaves other blocks
/// alone.
void makeRowStrands(Schedule& schedule, const std::string& block, const TargetFacts& facts,
                    int64_t vectors = 1);
/// Vectors along the rows of the block, whose loops are its innermost; `extent` elements per row.
void vectorizeRows(Schedule& schedule, const std::string& block, int64_t extent,
                   const TargetFacts& facts);

/// Loops of a reduction over the last axes: rows of any length in strands, the last step of which
/// has masks, one row after the other. False where a row is shorter than a vector or does not lie
/// side by side.
bool reduceRows(Schedule& schedule, const std::string& block, const TargetFacts& facts);

/// The only block in `loop`.
std::string blockIn(const Schedule& schedule, const std::string& loop);

} // namespace tenon::compiler
