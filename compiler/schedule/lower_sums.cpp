// SPDX-License-Identifier: Apache-2.0
// Lowering step: a product that is added to a sum is rounded with it, once, where the processor has
// an instruction for it. Nothing else is fused: arithmetic between a model's elements rounds
// operation by operation, so that a step behind it (floor, a comparison, an index) falls where the
// model says.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// Loads what the store overwrites.
bool isOldValue(const Expr& expr, const tir::StmtNode& store)
{
    return expr->kind == ExprKind::Load && expr->buffer == store.buffer && expr->args.size() == 1 &&
           tir::structuralEqual(expr->args[0], store.indices[0]);
}

/// The sum of the old value and terms with its products fused; empty when it is no such sum.
Expr fusedSum(const Expr& expr, const tir::StmtNode& store)
{
    if (isOldValue(expr, store)) return expr;
    if (expr->kind != ExprKind::Add) return {};
    for (const size_t side : {size_t{0}, size_t{1}}) {
        const Expr sum = fusedSum(expr->args[side], store);
        if (!sum.get()) continue;
        const Expr& term = expr->args[1 - side];
        if (term->kind != ExprKind::Mul) return side == 0 ? sum + term : term + sum;
        return tir::call(tir::Intrinsic::Fma, expr->dtype, {term->args[0], term->args[1], sum});
    }
    return {};
}

} // namespace

Stmt fuseSums(const Stmt& body)
{
    return tir::rewriteStmt(body, [](const Stmt& stmt) {
        if (stmt->kind != tir::StmtKind::Store || stmt->indices.size() != 1) return stmt;
        const DataType dtype = stmt->value->dtype;
        if (!dtype.isFloat() || dtype.bits < 32 || stmt->value->kind != ExprKind::Add) return stmt;
        const Expr sum = fusedSum(stmt->value, *stmt);
        return sum.get() ? tir::store(stmt->buffer, stmt->indices, sum) : stmt;
    });
}

} // namespace tenon::compiler
