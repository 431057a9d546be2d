// SPDX-License-Identifier: Apache-2.0
// Algebraic simplification of integer expressions under known variable ranges.
#pragma once

#include "core/ir/tir/stmt.h"

#include <optional>
#include <unordered_map>

namespace tenon::tir {

struct IntRange
{
    int64_t min;
    int64_t max; ///< inclusive
};

using Ranges = std::unordered_map<const VarNode*, IntRange>;

/// Bounds of an integer expression, if they can be derived.
std::optional<IntRange> boundsOf(const Expr& expr, const Ranges& ranges);

/// Canonical linear form, divisions and comparisons decided by ranges, constants folded.
/// Value-preserving.
Expr simplify(const Expr& expr, const Ranges& ranges = {});
/// Simplifies every expression; drops loops of extent 1 (substituting the variable), decided Ifs
/// and dead Seq entries.
Stmt simplify(const Stmt& stmt, const Ranges& ranges = {});

/// expr as sum of coefficient*var + constant when it is linear in the given variables.
struct LinearForm
{
    std::unordered_map<const VarNode*, int64_t> coefficients;
    int64_t constant = 0;
};
std::optional<LinearForm> linearForm(const Expr& expr);

} // namespace tenon::tir
