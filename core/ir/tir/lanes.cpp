// SPDX-License-Identifier: Apache-2.0
// Vector index arithmetic seen as scalar arithmetic over a lane number.
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

namespace tenon::tir {

Expr asScalar(const Expr& expr, const Expr& lane)
{
    if (expr->kind == ExprKind::Broadcast) return expr->args[0];
    if (expr->kind == ExprKind::Ramp) return expr->args[0] + expr->args[1] * lane;
    if (!isArithmetic(expr->kind) && !isComparison(expr->kind)) return {};
    const Expr a = asScalar(expr->args[0], lane);
    const Expr b = a.get() ? asScalar(expr->args[1], lane) : Expr();
    return b.get() && isIndex(a) && isIndex(b) ? binary(expr->kind, a, b) : Expr();
}

bool mentions(const Expr& expr, const VarNode* var)
{
    bool found = false;
    visitExprs(expr, [&](const Expr& e) {
        found = found || (e->kind == ExprKind::VarRef && e->var.get() == var);
        return !found;
    });
    return found;
}

Expr rampOf(const Sum& sum, const Var& lane, int lanes)
{
    Sum base{{}, sum.constant, true};
    int64_t stride = 0;
    for (const Term& term : sum.terms) {
        if (term.atom->kind == ExprKind::VarRef && term.atom->var == lane)
            stride = term.coefficient;
        else if (mentions(term.atom, lane.get()))
            return {};
        else
            base.terms.push_back(term);
    }
    return stride == 0 ? broadcast(toExpr(base), lanes) : ramp(toExpr(base), Expr(stride), lanes);
}

} // namespace tenon::tir
