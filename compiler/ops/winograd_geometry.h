// SPDX-License-Identifier: Apache-2.0
// The sizes of a Winograd convolution: what its attributes and operands say, and its tiles.
#pragma once

#include "compiler/ops/window.h"
#include "compiler/ops/winograd.h"

namespace tenon::compiler {

struct WinogradGeometry
{
    Window window;
    WinogradAxis rows, columns;
    int64_t inBlock;
    int64_t outBlock;
    int64_t kernelBlock; ///< output channels per kernel block, a multiple of outBlock
    int64_t kernelInBlock;
    int64_t groups;     ///< of input and output channels, which see each other only; whole blocks
    bool isTransformed; ///< the weight holds the points of each filter, else its elements

    int64_t phases() const { return window.stride[0] * window.stride[1]; }
};

/// Of an image with data at the ends where a phase has no element of the window.
Window withWholePhases(const Window& window);
/// Element [n, block, y, x, c] of the phases of an image [n, blocks, h, w, c], one after the other
/// as blocks.
tir::Expr phaseElement(const Window& window, const te::TensorRef& image,
                       const std::vector<tir::Expr>& at);
/// Whether the filters of a phase are more than zeros at point (a, b) of so many along both axes;
/// null where all are.
tir::Expr hasFilters(const Window& window, const std::array<int64_t, 2>& points,
                     const std::array<tir::Expr, 2>& at, const tir::Expr& phase);

/// BadAttribute or ShapeMismatch where attributes and operands do not fit together.
Result<WinogradGeometry> winogradGeometry(const OpView& op);

/// Tiles of one image along one axis.
struct WinogradTileAxis
{
    int64_t count;
    int64_t last;   ///< outputs of the last tile that are part of the result
    int64_t tile;   ///< m: of the others
    bool isSkipped; ///< the last tile leaves out the points that it can do without

    /// Points of the last tile that matter, of 3 taps.
    int64_t lastPoints() const { return isSkipped ? last + 2 : tile + 2; }
};

/// Tiles of one image, row by row.
struct WinogradTiles
{
    WinogradTileAxis rows, columns;
    int64_t count() const { return rows.count * columns.count; }
    bool unrollsRows() const { return count() <= kTilesOfUnrolledRows; }
};

/// For results of such images.
WinogradTiles winogradTilesOf(const WinogradGeometry& g, int64_t height, int64_t width);

} // namespace tenon::compiler
