// SPDX-License-Identifier: Apache-2.0
// Bits of floats as integers are in the order of the floats, of the negative ones in reverse.
#include "compiler/ops/ordered_key.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr int64_t kIndices = int64_t{1} << 32;

Expr inOrder(const Expr& value)
{
    if (!value->dtype.isFloat()) return tir::cast(core::kInt64, value);
    const Expr zero = tir::zeroOf(value->dtype);
    const Expr signless = tir::select(equal(value, zero), zero, value);
    const Expr bits =
        tir::cast(core::kInt64, tir::call(tir::Intrinsic::Reinterpret, core::kInt32, {signless}));
    return tir::select(bits < Expr(0), Expr(-kIndices / 2 - 1) - bits, bits);
}

} // namespace

bool hasOrderedKey(core::DataType dtype)
{
    if (dtype.isFloat()) return dtype == core::kFloat32;
    return dtype.isInt() && !dtype.isBool() && dtype.bits <= 32 &&
           (dtype.isSigned() || dtype.bits < 32);
}

Expr orderedKey(const Expr& value, const Expr& index, HigherKey order)
{
    const Expr number = inOrder(value);
    const Expr high = order == HigherKey::OfTheHigher ? number : Expr(-1) - number;
    return high * Expr(kIndices) + (Expr(kIndices - 1) - index);
}

Expr indexOfKey(const Expr& key) { return Expr(kIndices - 1) - floorMod(key, Expr(kIndices)); }

} // namespace tenon::compiler
