// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes where instructions multiply tiles of them.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// Of so many positions that follow one another, those that tiles multiply at a time: the last ones
/// may be multiplied twice.
int64_t rowsOfTiles(int64_t positions);
/// Computes what follows `block` on its sums in memory at `loop`, in vectors of `lanes`, those of
/// four columns side by side. Blocks that cannot follow are returned.
std::vector<std::string> attachToSums(Schedule& schedule, const std::string& block,
                                      const std::string& loop, int64_t lanes);

/// What multiplying by tiles takes.
struct TileWork
{
    int64_t positions, vectors, words; ///< of all sums, and of each
    double copied = 0;                 ///< cycles of copying the words of a position
};
/// True where it takes clearly less than multiplying by vectors.
bool paysByTiles(const TileWork& work, const TargetFacts& facts);
/// True where the block sums products of uint8 and int8.
bool multipliesUnsigned(const Schedule& schedule, const std::string& block);
/// True where weights are words for vectors and products by tiles take less time.
bool multipliesTiles(const Schedule& schedule, const std::string& conv, const ConvSite& site,
                     const TargetFacts& facts);
/// Loops for the convolution, what pads its data and what follows it. `isFlat`: rows and columns
/// are one axis.
void scheduleConvTiles(Schedule& schedule, const std::string& conv, const ConvSite& site,
                       bool isFlat, const TargetFacts& facts);

} // namespace tenon::compiler
