// SPDX-License-Identifier: Apache-2.0
// Index expressions as sums of coefficient * atom, and the interval they cover while inner loops
// run.
#pragma once

#include "core/ir/tir/simplify.h"
#include "core/ir/tir/stmt.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// An atom is a variable or any expression that is not linear itself.
struct AffineTerm
{
    tir::Expr atom;
    int64_t coefficient = 0;
};

struct Affine
{
    std::vector<AffineTerm> terms; ///< distinct atoms, no zero coefficient
    int64_t constant = 0;
};

Affine affineOf(const tir::Expr& expr);
tir::Expr exprOf(const Affine& affine);
/// a - b when it is a constant.
std::optional<int64_t> constantDifference(const tir::Expr& a, const tir::Expr& b);

/// The number in `variable // number` or `variable % number`, whichever is asked for; 0 for any
/// other expression.
int64_t divisorOfVar(const tir::Expr& expr, tir::ExprKind kind);

bool usesVar(const tir::Expr& expr, const tir::VarNode* var);
bool usesAny(const tir::Expr& expr, const tir::Ranges& vars);

/// min, min + step, ...: `extent` points; `min` is free of the inner variables.
struct Interval
{
    tir::Expr min;
    int64_t extent = 1;
    int64_t step = 1;
};

/// What `index` covers at step 1 while the variables of `inner` run over their ranges; `outer`
/// helps to simplify. May be larger than needed, never smaller; nothing when it cannot be told.
std::optional<Interval> intervalOf(const tir::Expr& index, const tir::Ranges& inner,
                                   const tir::Ranges& outer);

/// Smallest interval that holds both, when their distance is constant.
std::optional<Interval> unionOf(const Interval& a, const Interval& b);

} // namespace tenon::compiler
