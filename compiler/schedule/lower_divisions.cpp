// SPDX-License-Identifier: Apache-2.0
// Lowering step: divisions by sizes that are known at run time only leave the loops that they do
// not depend on. Optimizers leave them where they are, by element: what divides by zero must not be
// made earlier, and only constants are known not to be zero.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <map>
#include <string>
#include <unordered_set>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

bool isDivision(const Expr& expr)
{
    return (expr->kind == ExprKind::FloorDiv || expr->kind == ExprKind::FloorMod) &&
           expr->dtype.lanes == 1 && expr->args[1]->kind != ExprKind::IntImm;
}

class DivisionHoister
{
public:
    explicit DivisionHoister(const std::vector<tir::Var>& sizes)
    {
        for (const tir::Var& size : sizes) m_scope.insert(size.get());
    }

    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        tir::StmtNode copy = *stmt;
        if (stmt->kind == StmtKind::For) {
            m_scope.insert(stmt->loop.var.get());
            if (mayBindIn(*stmt)) copy.body = bound(stmt->body);
        }
        for (Stmt& child : copy.stmts) child = visit(child);
        copy.body = visit(copy.body);
        copy.orElse = visit(copy.orElse);
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    /// Lanes have values of their own, and threads take what stands around them as it was.
    static bool mayBindIn(const tir::StmtNode& loop)
    {
        bool isParallel = false;
        tir::visitStmts(loop.body, [&](const Stmt& stmt) {
            isParallel = isParallel || (stmt->kind == StmtKind::For &&
                                        stmt->loop.kind == tir::LoopKind::Parallel);
            return !isParallel;
        });
        return !isParallel && loop.loop.kind != tir::LoopKind::Vectorized;
    }

    bool isKnownHere(const Expr& expr) const
    {
        bool isKnown = true;
        tir::visitExprs(expr, [&](const Expr& e) {
            if (e->kind == ExprKind::Load) isKnown = false;
            if (e->kind == ExprKind::VarRef) isKnown = isKnown && m_scope.contains(e->var.get());
            return isKnown;
        });
        return isKnown;
    }

    /// Each division that is known at the beginning of `body` once, what it divides first.
    Stmt bound(const Stmt& body)
    {
        std::map<std::string, tir::Var> known;
        std::vector<std::pair<tir::Var, Expr>> lets;
        const auto replaced = [&](const Expr& expr) {
            if (!isDivision(expr) || !isKnownHere(expr)) return expr;
            const auto [found, isNew] = known.try_emplace(tir::print(expr));
            if (isNew) {
                found->second = tir::makeVar("quotient", expr->dtype);
                m_scope.insert(found->second.get());
                // Where the loop that needs it has no iterations, a size may be 0.
                const Expr divisor = maximum(expr->args[1], tir::intImm(1, expr->dtype));
                lets.emplace_back(found->second, tir::withArgs(expr, {expr->args[0], divisor}));
            }
            return Expr(found->second);
        };
        Stmt out = tir::rewriteStmt(
            body, [](const Stmt& stmt) { return stmt; }, replaced);
        for (size_t i = lets.size(); i-- > 0;) out = tir::let(lets[i].first, lets[i].second, out);
        return out;
    }

    std::unordered_set<const tir::VarNode*> m_scope;
};

} // namespace

tir::PrimFunc hoistDivisions(tir::PrimFunc function)
{
    if (!function.sizes.empty())
        function.body = DivisionHoister(function.sizes).visit(function.body);
    return function;
}

} // namespace tenon::compiler
