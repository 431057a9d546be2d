// SPDX-License-Identifier: Apache-2.0
// Reads and checks attributes and operands; divides results into tiles.
#include "compiler/ops/winograd_geometry.h"

#include "compiler/ops/attr_reader.h"

namespace tenon::compiler {
namespace {

/// Input channels of the weight, of all phases.
Dim channelsOf(const WinogradGeometry& g, const TensorType& weight)
{
    return weight.shape[g.isTransformed ? 3 : 1] * Dim(g.kernelInBlock);
}

Status checkLayouts(const OpView& op, const WinogradGeometry& g, const std::string& kernel)
{
    const std::string blocks =
        std::to_string(g.kernelInBlock) + "i" + std::to_string(g.kernelBlock) + "o";
    const auto weight = constantShape(op.operands[1].shape);
    const Shape& shape = op.operands[0].shape;
    const auto sidesAre = [&](size_t first, int64_t height, int64_t width) {
        return (*weight)[first] == height && (*weight)[first + 1] == width;
    };
    const bool isKnown = g.isTransformed ? kernel == "OHWI" + blocks && g.kernelInBlock == g.inBlock
                                         : kernel == "OIHW" + blocks;
    const bool fits =
        isKnown && g.kernelBlock % g.outBlock == 0 && weight &&
        (g.isTransformed ? sidesAre(1, g.rows.points(), g.columns.points())
                         : sidesAre(2, g.window.kernel[0], g.window.kernel[1])) &&
        (*weight)[4] == g.kernelInBlock && (*weight)[5] == g.kernelBlock &&
        shape[4] == Dim(g.inBlock) &&
        shape[1] * shape[4] * Dim(g.phases()) == channelsOf(g, op.operands[1]) * Dim(g.groups) &&
        (*weight)[0] % g.groups == 0;
    if (fits) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has tiles of " + std::to_string(g.rows.tile) + " x " +
                       std::to_string(g.columns.tile) + " and the kernel layout " + kernel +
                       " but the operands are " + op.operands[0].text() + " and " +
                       op.operands[1].text() +
                       "; the kernel is OHWI<i>i<o>o with H and W the points of a tile and i the "
                       "data's block, or OIHW<i>i<o>o with H and W 3, and o a multiple of the "
                       "result's block");
}

} // namespace

Window withWholePhases(const Window& window)
{
    Window out = window;
    for (size_t i = 0; i < 2; ++i)
        out.kernel[i] = winogradAxis(window.kernel[i], window.stride[i], 1).taps * window.stride[i];
    return out;
}

tir::Expr phaseElement(const Window& window, const te::TensorRef& image,
                       const std::vector<tir::Expr>& at)
{
    const std::array<int64_t, 2>& stride = window.stride;
    if (stride[0] * stride[1] == 1) return te::at(image, at);
    const tir::Expr blocks = image->shape()[1], phase = floorDiv(at[1], blocks);
    const tir::Expr y = at[2] * tir::Expr(stride[0]) + floorDiv(phase, tir::Expr(stride[1]));
    const tir::Expr x = at[3] * tir::Expr(stride[1]) + floorMod(phase, tir::Expr(stride[1]));
    return te::at(image, {at[0], floorMod(at[1], blocks), y, x, at[4]});
}

tir::Expr hasFilters(const Window& window, const std::array<int64_t, 2>& points,
                     const std::array<tir::Expr, 2>& at, const tir::Expr& phase)
{
    tir::Expr out;
    const tir::Expr across(window.stride[1]);
    const std::array<tir::Expr, 2> own{floorDiv(phase, across), floorMod(phase, across)};
    for (size_t i = 0; i < 2; ++i) {
        const int64_t whole = wholePhasesOf(window.kernel[i], window.stride[i]);
        if (whole == window.stride[i]) continue;
        const tir::Expr each = own[i] < tir::Expr(whole) || at[i] < tir::Expr(points[i] - 1);
        out = out.get() ? out && each : each;
    }
    return out;
}

Result<WinogradGeometry> winogradGeometry(const OpView& op)
{
    const auto layouts = readBlockedLayouts(op);
    if (!layouts) return layouts.error();
    const auto& [data, out, kernel] = *layouts;
    const std::vector<int64_t> tile = intsAttr(op, "tile_size");
    const std::vector<int64_t> size = intsAttr(op, "kernel_size");
    auto window = readWindow(op, {size[0], size[1]});
    if (!window) return window.error();
    const std::array<int64_t, 2> strides = window->stride;
    WinogradGeometry g{*std::move(window),
                       winogradAxis(size[0], strides[0], tile[0]),
                       winogradAxis(size[1], strides[1], tile[1]),
                       data.block('C'),
                       out.block('C'),
                       kernel.block('O'),
                       kernel.block('I'),
                       intAttr(op, "groups"),
                       kernel.text().starts_with("OH")};
    const std::array<int64_t, 2> ones{1, 1}, threes{3, 3};
    if (g.groups < 1) return opError(op, DiagnosticCode::BadAttribute, "needs groups of 1 or more");
    if (!isWinogradAxis(g.rows) || !isWinogradAxis(g.columns) || g.window.dilation != ones)
        return opError(
            op, DiagnosticCode::BadAttribute,
            "needs dilation 1 and tiles of 3, 4, 6 or 8 points along each axis, one less "
            "than their outputs and the kernel's elements at one phase of the strides");
    if (!g.isTransformed && (g.window.stride != ones || g.window.kernel != threes ||
                             g.rows.tile != g.columns.tile || g.groups != 1))
        return opError(
            op, DiagnosticCode::BadAttribute,
            "transforms filters of 3 x 3 at stride 1, of one group, to square tiles only");
    if (Status ok = checkLayouts(op, g, kernel.text()); !ok) return ok.error();
    return g;
}

WinogradTiles winogradTilesOf(const WinogradGeometry& g, int64_t height, int64_t width)
{
    const auto axis = [](int64_t size, int64_t tile) {
        const int64_t count = (size + tile - 1) / tile;
        return WinogradTileAxis{count, size - (count - 1) * tile, tile, false};
    };
    WinogradTiles tiles{axis(height, g.rows.tile), axis(width, g.columns.tile)};
    // Only loops over points and tiles that are unrolled can leave some out.
    const bool skips = !g.isTransformed;
    tiles.rows.isSkipped = skips && tiles.unrollsRows() && tiles.rows.last < g.rows.tile;
    tiles.columns.isSkipped = skips && tiles.columns.count <= kTilesOfUnrolledColumns &&
                              tiles.columns.last < g.columns.tile;
    return tiles;
}

} // namespace tenon::compiler
