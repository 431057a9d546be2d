// SPDX-License-Identifier: Apache-2.0
// Divisors that need care.
#include "core/ir/tir/division.h"

#include "core/ir/tir/visit.h"

namespace tenon::tir {
namespace {

bool isDivision(const ExprNode& node)
{
    return node.kind == ExprKind::Div || node.kind == ExprKind::Mod ||
           node.kind == ExprKind::FloorDiv || node.kind == ExprKind::FloorMod;
}

/// What all lanes have in common, where they do.
const Expr& scalarOf(const Expr& expr)
{
    return expr->kind == ExprKind::Broadcast ? expr->args[0] : expr;
}

} // namespace

bool isLoaded(const Expr& expr, const LoadedVars& vars)
{
    bool found = false;
    visitExprs(expr, [&](const Expr& e) {
        found = found || e->kind == ExprKind::Load ||
                (e->kind == ExprKind::VarRef && vars.contains(e->var.get()));
        return !found;
    });
    return found;
}

bool needsSafeDivisor(const ExprNode& node, const Ranges& ranges, const LoadedVars& vars)
{
    if (!isDivision(node) || !node.dtype.isInt()) return false;
    const Expr& divisor = scalarOf(node.args[1]);
    if (divisor->kind == ExprKind::IntImm)
        return divisor->integer == 0 || (divisor->integer == -1 && node.dtype.isSigned());
    if (!isLoaded(node.args[0], vars) && !isLoaded(divisor, vars)) return false;
    const auto bounds = boundsOf(divisor, ranges);
    return !bounds || bounds->min < 1;
}

bool mayDivideByZero(const Stmt& body, LoadedVars loaded)
{
    visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind == StmtKind::Let && isLoaded(stmt->value, loaded))
            loaded.insert(stmt->var.get());
        return true;
    });
    bool found = false;
    visitExprsIn(body, [&](const Expr& e) {
        found = found || (needsSafeDivisor(*e, {}, loaded) && !scalarOf(e->args[1]).isConstInt(-1));
        return !found;
    });
    return found;
}

} // namespace tenon::tir
