// SPDX-License-Identifier: Apache-2.0
// Building and multiplying quads.
#include "compiler/ops/quads.h"

namespace tenon::compiler {

using tir::Expr;

Expr quadOf(int64_t count, const std::function<Expr(int64_t)>& byte)
{
    Expr quad = tir::cast(kInt32, byte(0));
    for (int64_t k = 1; k < count; ++k) {
        const Expr shifted = tir::call(tir::Intrinsic::ShiftLeft, kInt32,
                                       {tir::cast(kInt32, byte(k)), tir::intImm(8 * k, kInt32)});
        quad = tir::call(tir::Intrinsic::BitwiseOr, kInt32, {quad, shifted});
    }
    return quad;
}

Expr dotOfQuads(const Expr& a, const Expr& b)
{
    return tir::call(tir::Intrinsic::DotU8I8, kInt32, {tir::zeroOf(kInt32), a, b});
}

} // namespace tenon::compiler
