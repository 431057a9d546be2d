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

/// Where an element of the images lies in the patches that cover them.
inline Exprs inPatches(const Exprs& element, const Shape& patches, const Shape& images)
{
    const tir::Expr high(patches[kPatchRow].value()), wide(patches[kPatchColumn].value());
    const tir::Expr rows = extentOf(patchCount(images[kPatchRow], patches[kPatchRow]));
    const tir::Expr columns = extentOf(patchCount(images[kPatchColumn], patches[kPatchColumn]));
    Exprs source = element;
    source[0] = (element[0] * rows + floorDiv(element[kPatchRow], high)) * columns +
                floorDiv(element[kPatchColumn], wide);
    source[kPatchRow] = floorMod(element[kPatchRow], high);
    source[kPatchColumn] = floorMod(element[kPatchColumn], wide);
    return source;
}

} // namespace tenon::compiler
