// SPDX-License-Identifier: Apache-2.0
// Building and multiplying quads.
#include "compiler/ops/quads.h"

namespace tenon::compiler {

using tir::Expr;

bool isByte(DataType dtype) { return dtype == kInt8 || dtype == kUInt8; }

bool hasNarrowWeight(const OpView& op) { return intAttr(op, kNarrowWeightAttr.name) != 0; }

Expr quadOf(int64_t count, const std::function<Expr(int64_t)>& byte)
{
    const auto bits = [&](int64_t k) { return tir::cast(kInt32, tir::cast(kUInt8, byte(k))); };
    Expr quad = bits(0);
    for (int64_t k = 1; k < count; ++k) {
        const Expr shifted =
            tir::call(tir::Intrinsic::ShiftLeft, kInt32, {bits(k), tir::intImm(8 * k, kInt32)});
        quad = tir::call(tir::Intrinsic::BitwiseOr, kInt32, {quad, shifted});
    }
    return quad;
}

Expr dotOfQuads(const Expr& a, const Expr& b, QuadTypes types)
{
    const tir::Intrinsic dot = types.values == kUInt8 ? tir::Intrinsic::DotU8I8
                               : types.isNarrow       ? tir::Intrinsic::DotI8Narrow
                                                      : tir::Intrinsic::DotI8I8;
    return tir::call(dot, kInt32, {tir::zeroOf(kInt32), a, b});
}

} // namespace tenon::compiler
