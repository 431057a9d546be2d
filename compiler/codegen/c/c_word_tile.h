// SPDX-License-Identifier: Apache-2.0
// A tile of sums of words of bytes: two filters times a few positions.
#pragma once

#include "compiler/codegen/c/c_expr.h"

namespace tenon::compiler {

inline constexpr int64_t kTileFilters = 2;

/// sums[2 p + f] += the dot of words[p] and weights[f], for all steps.
struct CExpressions::WordTile
{
    tir::Buffer sums, words, weights;
    tir::Expr sumsAt, wordsAt, weightsAt;
    int64_t positions, steps, stride;
};

} // namespace tenon::compiler
