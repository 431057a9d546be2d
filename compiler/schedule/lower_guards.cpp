// SPDX-License-Identifier: Apache-2.0
// Lowering step: guards leave the loops that they do not depend on.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// True for an If without else whose condition is the same wherever it is asked.
bool isGuard(const Stmt& stmt)
{
    if (!stmt || stmt->kind != StmtKind::If || stmt->orElse) return false;
    bool isPure = true;
    tir::visitExprs(stmt->condition, [&](const Expr& expr) {
        isPure = isPure && expr->kind != ExprKind::Load && expr->kind != ExprKind::Intrinsic;
        return isPure;
    });
    return isPure;
}

/// The statements under one guard when all of them have the same.
Stmt joined(const Stmt& seq)
{
    const std::vector<Stmt>& parts = seq->stmts;
    const bool agree =
        !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const Stmt& s) {
            return isGuard(s) && tir::structuralEqual(s->condition, parts.front()->condition);
        });
    if (!agree) return seq;
    std::vector<Stmt> bodies;
    for (const Stmt& part : parts) bodies.push_back(part->body);
    return tir::ifThen(parts.front()->condition, tir::seq(std::move(bodies)));
}

Stmt hoisted(const Stmt& stmt)
{
    if (stmt->kind == StmtKind::Seq) return joined(stmt);
    if (!isGuard(stmt->body)) return stmt;
    const Expr& condition = stmt->body->condition;
    if (stmt->kind == StmtKind::Allocate)
        return tir::ifThen(condition, tir::allocate(stmt->buffer, stmt->body->body));
    if (stmt->kind != StmtKind::For || stmt->loop.kind == tir::LoopKind::Parallel) return stmt;
    const auto asksLoop = [&](const Expr& term) { return usesVar(term, stmt->loop.var.get()); };
    const Expr leaving = termsWhere(condition, [&](const Expr& term) { return !asksLoop(term); });
    if (!leaving.get()) return stmt;
    const Expr staying = termsWhere(condition, asksLoop);
    const Stmt body =
        staying.get() ? tir::ifThen(staying, stmt->body->body) : Stmt(stmt->body->body);
    return tir::ifThen(leaving, tir::forLoop(stmt->loop, body));
}

} // namespace

tir::Stmt hoistGuards(const tir::Stmt& body) { return tir::rewriteStmt(body, hoisted); }

} // namespace tenon::compiler
