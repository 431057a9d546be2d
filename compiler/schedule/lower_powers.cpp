// SPDX-License-Identifier: Apache-2.0
// Lowering step: small constant powers become products.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

/// x^2 as x * x is exact to the last bit of pow; x^3 is off by at most one rounding.
Expr product(const Expr& expr)
{
    if (expr->kind != ExprKind::Intrinsic || expr->intrinsic != tir::Intrinsic::Pow) return expr;
    const Expr& base = expr->args[0];
    const Expr& exponent = expr->args[1];
    if (!expr->dtype.isFloat() || exponent->kind != ExprKind::FloatImm) return expr;
    if (exponent->number == 1) return base;
    if (exponent->number == 2) return base * base;
    if (exponent->number == 3) return base * base * base;
    return expr;
}

} // namespace

tir::Stmt lowerPowers(const tir::Stmt& body) { return tir::rewriteStmt(body, {}, product); }

} // namespace tenon::compiler
