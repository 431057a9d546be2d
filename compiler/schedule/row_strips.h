// SPDX-License-Identifier: Apache-2.0
// How many rows a kernel computes at a time.
#pragma once

#include "core/target/target_facts.h"

#include <cstdint>

namespace tenon::compiler {

using namespace core;

/// The largest divisor up to `limit`, or one of at least half of it that gives all threads as many
/// steps: the last step of an uneven share keeps one thread waiting.
int64_t evenDivisorUpTo(int64_t extent, int64_t limit, const TargetFacts& facts);

/// Of a chain of convolutions: as many that what lies between the convolutions, `rowBytes` per row
/// of the result, stays in the second-level cache, all where they fit and one thread computes them
/// (14 x 14 pixels in two strips compute one row in seven twice); all threads get as many strips
/// where that is possible. The last strip may be shorter where no divisor comes near. 1 where not
/// even two rows fit.
int64_t rowsPerStrip(int64_t rows, int64_t rowBytes, const TargetFacts& facts);

/// Of a chain that exists to save memory: the fewest rows, at least two, with which a window of
/// `window` rows that steps by `stride` computes no more than a quarter of what it reads twice. 1
/// where no divisor is so.
int64_t rowsPerShortStrip(int64_t rows, int64_t window, int64_t stride);

} // namespace tenon::compiler
