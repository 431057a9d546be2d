// SPDX-License-Identifier: Apache-2.0
// Lowering step: blocks become the statements they stand for.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

using LoopStarts = std::unordered_map<const tir::VarNode*, Expr>;

/// True at the first reduction step: every variable a reduce axis depends on is at its start.
Expr atFirstStep(const tir::Block& block, const LoopStarts& starts)
{
    Expr condition = tir::intImm(1, kBool);
    std::vector<const tir::VarNode*> seen;
    for (const tir::IterVar& iter : block.iters) {
        if (iter.kind != tir::IterKind::Reduce) continue;
        tir::visitExprs(iter.binding, [&](const Expr& expr) {
            if (expr->kind != ExprKind::VarRef) return true;
            const tir::VarNode* var = expr->var.get();
            if (std::find(seen.begin(), seen.end(), var) != seen.end()) return true;
            seen.push_back(var);
            const auto start = starts.find(var);
            condition = condition && equal(expr, start != starts.end() ? start->second : Expr(0));
            return true;
        });
    }
    return condition;
}

Stmt lowered(const Stmt& stmt, const LoopStarts& starts)
{
    const tir::Block& block = stmt->block;
    Stmt body = stmt->body;
    if (stmt->init) body = tir::seq({tir::ifThen(atFirstStep(block, starts), stmt->init), body});
    tir::VarMap bindings;
    for (const tir::IterVar& iter : block.iters) bindings[iter.var.get()] = iter.binding;
    body = tir::substitute(body, bindings);
    // The predicate is written over the block's variables or the loops' alike.
    if (block.predicate) body = tir::ifThen(tir::substitute(block.predicate, bindings), body);
    return body;
}

} // namespace

tir::Stmt lowerBlocks(const tir::Stmt& body)
{
    LoopStarts starts;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind == StmtKind::For) starts[stmt->loop.var.get()] = stmt->loop.min;
        return true;
    });
    return tir::rewriteStmt(body, [&](const Stmt& stmt) {
        return stmt->kind == StmtKind::Block ? lowered(stmt, starts) : stmt;
    });
}

} // namespace tenon::compiler
