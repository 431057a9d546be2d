// SPDX-License-Identifier: Apache-2.0
// Lowering step: buffers live as deep in the loop nest as they can.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::LoopKind;
using tir::Stmt;
using tir::StmtKind;

bool stores(const Stmt& stmt, const Buffer& buffer)
{
    bool found = false;
    tir::visitStmts(stmt, [&](const Stmt& s) {
        found = found || (s->kind == StmtKind::Store && s->buffer == buffer);
        return !found;
    });
    return found;
}

bool accesses(const Stmt& stmt, const Buffer& buffer)
{
    if (stores(stmt, buffer)) return true;
    bool found = false;
    tir::visitExprsIn(stmt, [&](const Expr& e) {
        found = found || (e->kind == ExprKind::Load && e->buffer == buffer);
        return !found;
    });
    return found;
}

/// True when a block inside accumulates into `buffer` along the loop: the value outlives an
/// iteration.
bool carriesValue(const Stmt& body, const tir::VarNode* loop, const Buffer& buffer)
{
    bool carries = false;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::Block) return true;
        for (const tir::IterVar& iter : stmt->block.iters)
            if (iter.kind == tir::IterKind::Reduce && usesVar(iter.binding, loop) &&
                stores(stmt, buffer))
                carries = true;
        return true;
    });
    return carries;
}

Stmt place(const Stmt& stmt, const Buffer& buffer)
{
    if (stmt->kind == StmtKind::Seq) {
        size_t first = stmt->stmts.size(), last = 0;
        for (size_t i = 0; i < stmt->stmts.size(); ++i) {
            if (!accesses(stmt->stmts[i], buffer)) continue;
            first = std::min(first, i);
            last = i;
        }
        std::vector<Stmt> out(stmt->stmts.begin(), stmt->stmts.begin() + static_cast<long>(first));
        if (first == last) {
            out.push_back(place(stmt->stmts[first], buffer));
        } else {
            std::vector<Stmt> users(stmt->stmts.begin() + static_cast<long>(first),
                                    stmt->stmts.begin() + static_cast<long>(last) + 1);
            out.push_back(tir::allocate(buffer, tir::seq(std::move(users))));
        }
        out.insert(out.end(), stmt->stmts.begin() + static_cast<long>(last) + 1, stmt->stmts.end());
        return tir::seq(std::move(out));
    }
    if (stmt->kind == StmtKind::Allocate)
        return tir::allocate(stmt->buffer, place(stmt->body, buffer));
    const bool descends = stmt->kind == StmtKind::For && stmt->loop.kind != LoopKind::Vectorized &&
                          !carriesValue(stmt->body, stmt->loop.var.get(), buffer);
    if (descends) return tir::forLoop(stmt->loop, place(stmt->body, buffer));
    return tir::allocate(buffer, stmt);
}

} // namespace

tir::Stmt placeBuffers(const tir::Stmt& body)
{
    return tir::rewriteStmt(body, [](const Stmt& stmt) {
        if (stmt->kind != StmtKind::Block || stmt->block.allocs.empty()) return stmt;
        tir::Block block = stmt->block;
        Stmt inside = stmt->body;
        for (const Buffer& buffer : block.allocs)
            if (accesses(inside, buffer)) inside = place(inside, buffer);
        block.allocs.clear();
        return tir::block(std::move(block), stmt->init, inside);
    });
}

} // namespace tenon::compiler
