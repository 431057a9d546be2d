// SPDX-License-Identifier: Apache-2.0
// Patches of images: which image a patch is of, and where it lies there.
#pragma once

#include "compiler/ops/shapes.h"
#include "compiler/ops/symbols.h"
#include "core/tensor/dim_products.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {

inline constexpr size_t kPatchRow = 2, kPatchColumn = 3;

/// The largest number that divides a known side and every term of an extent.
inline int64_t commonFactor(const Dim& extent, const Dim& side)
{
    int64_t common = side.constant().value_or(1);
    for (const DimProduct& product : productsOf(extent))
        common = std::gcd(common, product.coefficient);
    return common;
}

/// Patches that cover so many rows or columns; one symbol where nobody knows them, as a sum would
/// multiply out and be no number of items any more.
inline Dim patchCount(const Dim& extent, const Dim& side)
{
    // Twice the rows in patches twice as high are as many, and say so.
    const Dim common(std::max<int64_t>(1, commonFactor(extent, side)));
    if (!(common == Dim(1))) return patchCount(floorDiv(extent, common), floorDiv(side, common));
    const Dim covered = extent + side - Dim(1), count = floorDiv(covered, side);
    if (productsOf(count).size() == 1) return count;
    return Dim::symbol("((" + covered.text() + ") // " + side.text() + ")");
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

/// Along one axis: the patch that an element lies in, and where in it.
struct PatchElement
{
    tir::Expr patch, place;
};

inline PatchElement elementOfPatches(const tir::Expr& element, int64_t side)
{
    return {floorDiv(element, tir::Expr(side)), floorMod(element, tir::Expr(side))};
}

/// Where the element of the images lies in the patches that cover them.
inline Exprs inPatches(const Exprs& element, const PatchElement& row, const PatchElement& column,
                       const Shape& patches, const Shape& images)
{
    const tir::Expr rows = extentOf(patchCount(images[kPatchRow], patches[kPatchRow]));
    const tir::Expr columns = extentOf(patchCount(images[kPatchColumn], patches[kPatchColumn]));
    Exprs source = element;
    source[0] = (element[0] * rows + row.patch) * columns + column.patch;
    source[kPatchRow] = row.place;
    source[kPatchColumn] = column.place;
    return source;
}

} // namespace tenon::compiler
