// SPDX-License-Identifier: Apache-2.0
// What the products of Winograd's and Strassen's methods share.
#pragma once

#include "compiler/schedule/rules/winograd_step.h"

namespace tenon::compiler {

/// Products of one filter block under `loop`: per tile position, register tiles of tiles x vectors.
void scheduleProducts(Schedule& schedule, const WinogradBlocks& blocks, const WinogradShape& shape,
                      const std::string& loop, const TargetFacts& facts);

/// A tile writes a vector to each point. Where points are apart by a power of two, these would
/// share a set or two of the first-level cache; another line between them spreads them.
void spreadPoints(Schedule& schedule, const std::string& dataTiles, const WinogradShape& shape,
                  const WinogradStep& step);

} // namespace tenon::compiler
