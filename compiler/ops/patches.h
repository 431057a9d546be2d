// SPDX-License-Identifier: Apache-2.0
// Patches of images: which image a patch is of, and where it lies there.
#pragma once

#include "compiler/ops/shapes.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {

inline constexpr size_t kPatchRow = 2, kPatchColumn = 3;

/// Patches that cover so many rows or columns.
inline Dim patchCount(const Dim& extent, const Dim& side)
{
    return floorDiv(extent + side - Dim(1), side);
}

struct PatchPlace
{
    tir::Expr image;
    tir::Expr row; ///< of patches
    tir::Expr column;
};

/// Of the patch `index` of images that have rows x columns of them each.
inline PatchPlace placeOfPatch(const tir::Expr& index, const tir::Expr& rows,
                               const tir::Expr& columns)
{
    return {floorDiv(index, rows * columns), floorMod(floorDiv(index, columns), rows),
            floorMod(index, columns)};
}

} // namespace tenon::compiler
