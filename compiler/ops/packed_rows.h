// SPDX-License-Identifier: Apache-2.0
// Where the rows of a dense layer's weight lie once they are packed in blocks, [N/b, K, b].
#pragma once

#include "compiler/te/te.h"

namespace tenon::compiler {

/// Element `k` of row `n`; a single block is a plain matrix [K, N], whose index needs no division.
inline tir::Expr packedRowAt(const te::TensorRef& weight, const tir::Expr& n, const tir::Expr& k)
{
    const std::vector<tir::Expr> shape = weight->shape();
    if (shape[0].isConstInt(1)) return te::at(weight, {tir::Expr(0), k, n});
    return te::at(weight, {floorDiv(n, shape[2]), k, floorMod(n, shape[2])});
}

} // namespace tenon::compiler
