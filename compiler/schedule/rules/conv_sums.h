// SPDX-License-Identifier: Apache-2.0
// The sums of a blocked convolution in registers, also where blocks are half a vector.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// Loops inside a register tile.
struct TileLoops
{
    std::string positions, blocks, lane;
};

/// The register tile for the sums of so many columns.
RegisterTile tileOfSums(const ConvShape& shape, int64_t columns, Walk walk,
                        const TargetFacts& facts);
/// Unrolls the convolution block's tile into vectors.
void unrollSums(Schedule& schedule, const std::string& conv, const ConvShape& shape,
                const TileLoops& loops, const TargetFacts& facts);

} // namespace tenon::compiler
