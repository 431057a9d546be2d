// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(m, r): the three one-dimensional transforms as expressions.
#pragma once

#include "compiler/ops/shapes.h"

#include <array>
#include <functional>
#include <vector>

namespace tenon::compiler {

/// Element k of the line that is transformed.
using LineFn = std::function<tir::Expr(int64_t k)>;

/// The value of index `e`; lazily, so that an unrolled loop computes one of them.
tir::Expr choose(const tir::Expr& e, const std::vector<tir::Expr>& values);

/// F(m, r) along one axis: m outputs of a filter of r taps from m + r - 1 products. An axis of one
/// output is not transformed.
struct WinogradAxis
{
    int64_t tile = 1; ///< m
    int64_t taps = 1; ///< r

    int64_t points() const { return tile == 1 ? 1 : tile + taps - 1; }
    /// Taps that are multiplied one by one.
    bool isDirect() const { return tile == 1 && taps > 1; }
};

/// Where transforms exist: for 3, 4, 6 and 8 points, and for an axis that needs none.
bool isWinogradAxis(const WinogradAxis& axis);

/// What a convolution of `kernel` elements at `stride` is along one axis with tiles of `tile`
/// outputs: of every stride-th element, its phases, each has ceil(kernel / stride) taps.
WinogradAxis winogradAxis(int64_t kernel, int64_t stride, int64_t tile);

/// The first phases of a stride, so many, have all taps; the others lack the last one, and their
/// filters are zero at the last point, infinity.
constexpr int64_t wholePhasesOf(int64_t kernel, int64_t stride)
{
    return kernel - (kernel - 1) / stride * stride;
}
/// Products of a tile along one axis, of all phases, without those with zeros.
int64_t winogradProducts(int64_t kernel, int64_t stride, int64_t tile);

/// Tiles up to which kernels that transform filters unroll the rows of points: all in registers at
/// once, each row with a transform of its own. More tiles share rows that were transformed before.
inline constexpr int64_t kTilesOfUnrolledRows = 4;
/// Tiles per row up to which they unroll these, so that it is known which one is the last.
inline constexpr int64_t kTilesOfUnrolledColumns = 8;

/// Element `e` of the transformed filter (m + r - 1 of them from r), data (as many from as many) or
/// result (m from m + r - 1). `e` is a loop variable that the schedules unroll: only one case
/// remains then. The factors of the points are all in the data: filters, which kernels may
/// transform again for each few tiles, take a third of the steps without.
tir::Expr winogradFilter(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);
/// The same as a sum of the elements with factors that `e` decides, for a loop over `e` that is not
/// unrolled.
tir::Expr winogradFilterSum(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);
tir::Expr winogradData(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);
tir::Expr winogradResult(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);

} // namespace tenon::compiler
