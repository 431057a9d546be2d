// SPDX-License-Identifier: Apache-2.0
// Strassen's product of matrices in halves: seven products for eight (V. Strassen, "Gaussian
// Elimination is not Optimal", Numerische Mathematik 13, 1969).
#pragma once

#include "compiler/ops/winograd.h"

namespace tenon::compiler {

/// Element of a quarter of a matrix, by the half of its rows and of its columns: 0 or 1.
using QuarterFn = std::function<tir::Expr(int64_t row, int64_t column)>;

inline constexpr int64_t kHalvedProducts = 7;

/// Factor `e` (0 to 6) of the seven products: of the weights, whose rows are results and whose
/// columns are inputs, and of the data, whose rows are inputs and whose columns are positions. `e`
/// is a loop variable that the schedules unroll.
tir::Expr halvedWeight(const tir::Expr& e, const QuarterFn& quarter);
tir::Expr halvedData(const tir::Expr& e, const QuarterFn& quarter);
/// The quarter of the result from the seven products.
tir::Expr halvedResult(const tir::Expr& row, const tir::Expr& column, const LineFn& product);

/// Positions in each half of so many; the second half has a few less where numbers that steps and
/// register tiles divide are near.
int64_t halfOf(int64_t positions);

} // namespace tenon::compiler
