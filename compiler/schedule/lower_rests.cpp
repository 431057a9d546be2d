// SPDX-License-Identifier: Apache-2.0
// Lowering step: of register tiles along a known number of blocks, the last one has only the blocks
// that are left. A guard around each sum would be asked in every step of the reduction.
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

/// `tile * size + block < count`: the blocks of a tile that there are.
struct RestTerm
{
    Expr tile;
    int64_t size;
    int64_t count;
};

/// The guard of the body of a loop over the blocks of one tile.
std::optional<RestTerm> restTermOf(const Expr& term, const tir::Loop& blocks)
{
    if (term->kind != ExprKind::Less) return std::nullopt;
    const Affine place = affineOf(term->args[0] - term->args[1]);
    if (place.terms.size() != 2) return std::nullopt;
    const bool isFirst =
        place.terms[0].atom->kind == ExprKind::VarRef && place.terms[0].atom->var == blocks.var;
    const AffineTerm &own = place.terms[isFirst ? 0 : 1], &other = place.terms[isFirst ? 1 : 0];
    if (own.atom->kind != ExprKind::VarRef || own.atom->var != blocks.var || own.coefficient != 1)
        return std::nullopt;
    // Longer loops would share blocks with the next tile, as the rows of a window do.
    if (blocks.extent->integer > other.coefficient) return std::nullopt;
    return RestTerm{other.atom, other.coefficient, -place.constant};
}

bool isGuardedLoop(const Stmt& stmt)
{
    return stmt->kind == StmtKind::For && stmt->body->kind == StmtKind::If && !stmt->body->orElse &&
           stmt->loop.min.isConstInt(0) && stmt->loop.extent->kind == ExprKind::IntImm;
}

/// The tile that all such guards inside speak of; nothing where there is none or another.
std::optional<RestTerm> restTermIn(const Stmt& body)
{
    std::optional<RestTerm> found;
    bool agree = true;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (!isGuardedLoop(stmt)) return true;
        (void)termsWhere(stmt->body->condition, [&](const Expr& term) {
            const auto rest = restTermOf(term, stmt->loop);
            if (!rest) return false;
            agree = agree && (!found || (tir::structuralEqual(found->tile, rest->tile) &&
                                         found->size == rest->size && found->count == rest->count));
            found = rest;
            return false;
        });
        return true;
    });
    return agree ? found : std::nullopt;
}

bool hasSums(const Stmt& body)
{
    bool has = false;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        has = has ||
              (stmt->kind == StmtKind::Allocate && stmt->buffer->scope == tir::Scope::Register);
        return !has;
    });
    return has;
}

/// True where every variable of the tile's number is known around `body`.
bool isKnownAround(const Stmt& body, const Expr& tile)
{
    bool isKnown = true;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind == StmtKind::For) isKnown = isKnown && !usesVar(tile, stmt->loop.var.get());
        return isKnown;
    });
    return isKnown;
}

/// The body for tiles of `blocks` blocks.
Stmt withBlocks(const Stmt& body, const RestTerm& rest, int64_t blocks)
{
    return tir::rewriteStmt(body, [&](const Stmt& stmt) {
        if (!isGuardedLoop(stmt)) return stmt;
        const auto isRest = [&](const Expr& term) {
            return restTermOf(term, stmt->loop).has_value();
        };
        if (!termsWhere(stmt->body->condition, isRest).get()) return stmt;
        const Expr others =
            termsWhere(stmt->body->condition, [&](const Expr& term) { return !isRest(term); });
        tir::Loop loop = stmt->loop;
        loop.extent = Expr(std::min(blocks, loop.extent->integer));
        const Stmt& inner = stmt->body->body;
        return tir::forLoop(loop, others.get() ? tir::ifThen(others, inner) : inner);
    });
}

Stmt withRest(const Stmt& stmt)
{
    if (stmt->kind != StmtKind::For || stmt->loop.extent->kind != ExprKind::IntImm ||
        !stmt->loop.min.isConstInt(0) || !hasSums(stmt->body))
        return stmt;
    const auto rest = restTermIn(stmt->body);
    if (!rest || !usesVar(rest->tile, stmt->loop.var.get()) ||
        !isKnownAround(stmt->body, rest->tile))
        return stmt;
    const int64_t whole = rest->count / rest->size, left = rest->count % rest->size;
    const auto tiles =
        tir::boundsOf(rest->tile, {{stmt->loop.var.get(), {0, stmt->loop.extent->integer - 1}}});
    if (!tiles || tiles->min != 0 || tiles->max != whole || left == 0) return stmt;
    const auto isTile = [&](const Expr& expr) { return tir::structuralEqual(expr, rest->tile); };
    const Stmt last = tir::rewriteStmt(
        withBlocks(stmt->body, *rest, left), [](const Stmt& inner) { return inner; },
        [&](const Expr& expr) { return isTile(expr) ? Expr(whole) : expr; });
    return tir::forLoop(stmt->loop, tir::ifThen(rest->tile < Expr(whole),
                                                withBlocks(stmt->body, *rest, rest->size), last));
}

} // namespace

tir::Stmt splitRests(const tir::Stmt& body) { return tir::rewriteStmt(body, withRest); }

} // namespace tenon::compiler
