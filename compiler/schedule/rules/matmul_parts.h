// SPDX-License-Identifier: Apache-2.0
// Products of matrices whose depth is cut into parts: one part of a tile's weights stays in the
// caches for a strip of rows.
#pragma once

#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/schedule.h"

namespace tenon::compiler {

/// A product with a packed right side, [N / b, K, b].
struct PackedProduct
{
    std::string block;
    int64_t rows, columns, depth; ///< rows: negative where a run decides
    int64_t lanes;                ///< columns of a vector
    RegisterTile tile;
    tir::Buffer weights; ///< null where they may not be cut
};

/// Parts of the depth by which a tile's weights are read; 1: whole.
int64_t partsOfDepth(const PackedProduct& product, const TargetFacts& facts);
/// So many. What follows the product is computed on its tiles.
void scheduleProductByParts(Schedule& schedule, const PackedProduct& product, int64_t parts,
                            const TargetFacts& facts);

} // namespace tenon::compiler
