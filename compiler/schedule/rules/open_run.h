// SPDX-License-Identifier: Apache-2.0
// Runs of elements side by side that nobody counted yet.
#pragma once

#include "compiler/schedule/rules/rule.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// The loop over such a run where it is all of the last `contiguous` axes; "" where there is none.
std::string openRunOf(const Schedule& schedule, const std::vector<AxisView>& axes,
                      size_t contiguous, int64_t lanes);
/// Lanes of vectors along the last axis, of unknown length, where loads take it apart into blocks
/// and what is inside them, as joined patches do; 0 where they do something else with it.
int64_t openLanesInBlocks(const tir::Stmt& block, int64_t lanes);
/// Elements side by side that are worth a vector with a mask.
inline constexpr int64_t kFewestMasked = 4;
/// Elements side by side that are read where they are inside an image of unknown size, on a
/// processor whose vectors have masks.
bool readsUnderMasks(const tir::Stmt& block, const TargetFacts& facts);

/// In vectors, around which are the loops of one iteration each behind it.
void vectorizeOpenRun(Schedule& schedule, const std::string& run, std::vector<std::string> ones,
                      int64_t lanes);

/// Where runs along the last axis end: what is read turns there, or one patch ends and the next
/// begins, at places that are the same for all patches (with masks only).
std::vector<int64_t> endsOfRuns(const tir::Stmt& block, const TargetFacts& facts);

} // namespace tenon::compiler
