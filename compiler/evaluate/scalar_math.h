// SPDX-License-Identifier: Apache-2.0
// What the scalar operators of the loop IR compute, floats in double: shared by the evaluators.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/expr.h"

#include <optional>

namespace tenon::compiler {

using namespace core;

/// Binary operators on floats; comparisons give 0 or 1.
double floatBinary(tir::ExprKind kind, double a, double b);
/// Binary operators on integers of `dtype` (the operands'), wrapped; nothing for a zero divisor.
std::optional<int64_t> intBinary(tir::ExprKind kind, DataType dtype, int64_t a, int64_t b);
/// Comparisons and logic: whether `kind` gives bool whatever its operands are.
bool isPredicate(tir::ExprKind kind);

/// Intrinsics of one to three float arguments with a float result; nothing when there is none.
std::optional<double> floatIntrinsic(tir::Intrinsic intrinsic, const double* args);
/// Intrinsics on integers of `dtype`.
std::optional<int64_t> intIntrinsic(tir::Intrinsic intrinsic, DataType dtype, const int64_t* args);

/// `value` as an integer of `dtype` holds it.
int64_t wrapped(DataType dtype, int64_t value);
/// `value` as a float of `dtype` holds it.
double rounded(DataType dtype, double value);
/// Float to integer: truncated; out of range saturates, NaN is 0.
int64_t truncated(DataType dtype, double value);
/// The same bits read as `to`.
std::optional<int64_t> reinterpretToInt(DataType from, DataType to, double value);
std::optional<double> reinterpretToFloat(DataType from, DataType to, int64_t value);

} // namespace tenon::compiler
