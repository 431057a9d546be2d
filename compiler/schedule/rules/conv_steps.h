// SPDX-License-Identifier: Apache-2.0
// Steps of a convolution: how many rows or tiles one takes, so that their data stay in a cache
// while weights pass over them.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// Rows one outer iteration takes: few enough to leave work for every thread and to keep the input
/// rows in the second-level cache.
int64_t rowsPerStep(const ConvShape& shape, const TargetFacts& facts);
/// Tiles of one step whose data stay in the second-level cache while all weights pass over them,
/// those of `count` tiles that are cheapest: each step reads all weights, and the last one computes
/// some tiles again. 0: the data of all tiles stay there, as well as they can.
int64_t tilesPerStep(const ConvShape& shape, const RegisterTile& tile, int64_t count,
                     const TargetFacts& facts);
/// Data that do not stay in the second-level cache come from behind it for every block of weights:
/// then it is less to read all weights for every step (Zen 3, 1024 to 512 channels at 14 x 14: 75
/// against 27 GFLOP/s).
bool leavesCache(const ConvShape& shape, const RegisterTile& tile, const TargetFacts& facts);

} // namespace tenon::compiler
