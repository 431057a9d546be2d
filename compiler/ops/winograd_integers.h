// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms without fractions, of int8 filters and data: points fit int16, sums are
// modulo 2^32 and a multiple of the result, which is divided exactly.
#pragma once

#include "compiler/ops/winograd.h"

#include <span>

namespace tenon::compiler {

/// Where they exist: F(m, r) of 3, 4, 6 and 8 points, and an axis that is not transformed.
bool isWinogradIntegerAxis(const WinogradAxis& axis);
/// Whether points of both axes fit int16, with rows of any number of taps that are multiplied one
/// by one beside columns that are transformed: of one that is transformed, in magnitude at most 140
/// * 128 of filters and 50 * 128 of data; of two of three taps, 12^2 * 128 and 10^2 * 128.
bool areWinogradIntegerAxes(const WinogradAxis& rows, const WinogradAxis& columns);

/// The filter's and the result's factors make the sum so many times as large along an axis, 24 of
/// 6 points, which winogradIntegerQuotient takes back for both axes. Sums may overflow on the way:
/// the result is right where it is less than winogradIntegerLimit.
int64_t winogradIntegerFactor(const WinogradAxis& axis);
int64_t winogradIntegerFilter(const WinogradAxis& axis, int64_t e, std::span<const int64_t> line);
tir::Expr winogradIntegerData(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);
tir::Expr winogradIntegerResult(const WinogradAxis& axis, const tir::Expr& e, const LineFn& line);
/// Of sums that are `factor` times as large.
tir::Expr winogradIntegerQuotient(int64_t factor, const tir::Expr& sum);
/// What an exact result must stay below: 2^25 for 24^2.
int64_t winogradIntegerLimit(int64_t factor);

} // namespace tenon::compiler
