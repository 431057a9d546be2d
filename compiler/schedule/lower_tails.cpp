// SPDX-License-Identifier: Apache-2.0
// Lowering step: loops over blocks of an extent that is known at run time only are those over whole
// blocks, and then the block that is not. A guard in each would make single numbers of vectors.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// Lanes for what is left of a vector.
constexpr int64_t kShortLanes = 4;

/// Ends of loops that have as many iterations each time: 0 .. end - 1.
using Ends = std::unordered_map<const tir::VarNode*, int64_t>;

Ends endsIn(const Stmt& body)
{
    Ends ends;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        const tir::Loop& loop = stmt->loop;
        if (stmt->kind == StmtKind::For && loop.min.isConstInt(0) &&
            loop.extent->kind == ExprKind::IntImm)
            ends[loop.var.get()] = loop.extent->integer;
        return true;
    });
    return ends;
}

bool isGuard(const Stmt& stmt) { return stmt->kind == StmtKind::If && !stmt->orElse; }

/// The elements of a block where the term keeps elements `block * size + ..` below a count that is
/// known outside of the loop over blocks; 0: it says something else.
int64_t blockSizeOf(const Expr& term, const tir::Var& block, const Ends& ends)
{
    if (term->kind != ExprKind::Less) return 0;
    const Affine place = affineOf(term->args[0]);
    int64_t size = 0, inner = 1;
    for (const AffineTerm& each : place.terms) {
        if (each.atom->kind != ExprKind::VarRef || each.coefficient < 1) return 0;
        if (each.atom->var == block) {
            size = each.coefficient;
            continue;
        }
        const auto end = ends.find(each.atom->var.get());
        if (end == ends.end()) return 0;
        inner += each.coefficient * (end->second - 1);
    }
    bool isOutside = place.constant == 0 && inner <= size;
    tir::visitExprs(term->args[1], [&](const Expr& expr) {
        isOutside = isOutside && expr->kind != ExprKind::Load &&
                    !(expr->kind == ExprKind::VarRef &&
                      (expr->var == block || ends.contains(expr->var.get())));
        return isOutside;
    });
    return isOutside ? size : 0;
}

/// The first such term of the guards in a loop over blocks.
std::optional<Expr> blockTermIn(const tir::StmtNode& loop, const Ends& ends)
{
    std::optional<Expr> found;
    tir::visitStmts(loop.body, [&](const Stmt& inner) {
        if (found || !isGuard(inner)) return !found;
        (void)termsWhere(inner->condition, [&](const Expr& term) {
            if (!found && blockSizeOf(term, loop.loop.var, ends) > 0) found = term;
            return false;
        });
        return !found;
    });
    return found;
}

/// The last block, `last`, which may be empty but for some elements.
class LastBlock
{
public:
    explicit LastBlock(tir::Var last)
        : m_last(std::move(last))
    {
    }

    Stmt of(const Stmt& body) const
    {
        return tir::rewriteStmt(body, [&](const Stmt& stmt) { return inParts(stmt); });
    }

private:
    tir::Var m_last;

    /// A whole vector where all lanes have an element, or else a few of them at a time. Sums that
    /// stay in registers are left to masks.
    Stmt inParts(const Stmt& stmt) const
    {
        const tir::Loop& lanes = stmt->loop;
        if (stmt->kind != StmtKind::For || lanes.kind != tir::LoopKind::Vectorized ||
            lanes.extent->kind != ExprKind::IntImm || !isGuard(stmt->body) ||
            stmt->body->body->kind != StmtKind::Store)
            return stmt;
        const auto differs = [&](const Expr& term) { return usesVar(term, lanes.var.get()); };
        const Expr term = termsWhere(stmt->body->condition, differs);
        const Expr others =
            termsWhere(stmt->body->condition, [&](const Expr& each) { return !differs(each); });
        if (!term.get() || term->kind != ExprKind::Less || differs(term->args[1])) return stmt;
        const Expr& place = term->args[0];
        const Expr base = tir::substitute(place, {{lanes.var.get(), Expr(0)}});
        if (constantDifference(place, base + Expr(lanes.var)) != 0) return stmt;
        const Expr left = term->args[1] - base;
        const Stmt& body = stmt->body->body;
        const bool isSum = !usesVar(body->indices[0], m_last.get());
        const Stmt few =
            tir::ifThen(Expr(0) < left, isSum ? underMasks(stmt) : elements(body, lanes, left));
        const Stmt parts =
            isSum ? few : tir::ifThen(lanes.extent <= left, tir::forLoop(lanes, body), few);
        return others.get() ? tir::ifThen(others, parts) : parts;
    }

    /// What all lanes read alike is there where one of them has an element, and is read before:
    /// loads under masks are those of lanes.
    static Stmt underMasks(const Stmt& stmt)
    {
        const tir::Loop& lanes = stmt->loop;
        const Stmt& sum = stmt->body->body;
        std::vector<std::pair<tir::Var, Expr>> alike;
        const Expr value = tir::rewriteExpr(sum->value, [&](const Expr& expr) {
            if (expr->kind != ExprKind::Load || usesVar(expr->args[0], lanes.var.get()))
                return expr;
            alike.emplace_back(tir::makeVar("alike", expr->dtype), expr);
            return Expr(alike.back().first);
        });
        Stmt out = tir::forLoop(lanes, tir::ifThen(stmt->body->condition,
                                                   tir::store(sum->buffer, sum->indices, value)));
        for (const auto& [var, load] : alike) out = tir::let(var, load, out);
        return out;
    }

    static Stmt elements(const Stmt& body, const tir::Loop& lanes, const Expr& left)
    {
        const auto at = [&](const Expr& lane) {
            return tir::substitute(body, {{lanes.var.get(), lane}});
        };
        const auto loopOf = [&](const Expr& extent, tir::LoopKind kind) {
            tir::Loop loop = lanes;
            loop.var = tir::makeVar(lanes.var->name, lanes.var->dtype);
            loop.extent = extent;
            loop.kind = kind;
            return loop;
        };
        const Expr shorts = floorDiv(left, Expr(kShortLanes));
        const tir::Loop vectors = loopOf(shorts, tir::LoopKind::Serial);
        const tir::Loop vector = loopOf(Expr(kShortLanes), tir::LoopKind::Vectorized);
        const tir::Loop singles = loopOf(left - shorts * Expr(kShortLanes), tir::LoopKind::Serial);
        return tir::seq(
            {tir::forLoop(vectors, tir::forLoop(vector, at(Expr(vectors.var) * Expr(kShortLanes) +
                                                           Expr(vector.var)))),
             tir::forLoop(singles, at(shorts * Expr(kShortLanes) + Expr(singles.var)))});
    }
};

Stmt inBlocks(const Stmt& stmt)
{
    const tir::Loop& loop = stmt->loop;
    if (stmt->kind != StmtKind::For || loop.kind != tir::LoopKind::Serial ||
        loop.extent->kind == ExprKind::IntImm || !loop.min.isConstInt(0))
        return stmt;
    const Ends ends = endsIn(stmt->body);
    const std::optional<Expr> wanted = blockTermIn(*stmt, ends);
    if (!wanted) return stmt;
    const Expr count = (*wanted)->args[1];
    const Expr size(blockSizeOf(*wanted, loop.var, ends));
    const Stmt whole = tir::rewriteStmt(stmt->body, [&](const Stmt& inner) {
        if (!isGuard(inner)) return inner;
        const Expr staying = termsWhere(inner->condition, [&](const Expr& term) {
            return blockSizeOf(term, loop.var, ends) != size->integer ||
                   !tir::structuralEqual(term->args[1], count);
        });
        return staying.get() ? tir::ifThen(staying, inner->body) : Stmt(inner->body);
    });
    tir::Loop blocks = loop;
    blocks.extent = floorDiv(count, size);
    const tir::Var last = tir::makeVar(loop.var->name + "_last", loop.var->dtype);
    const Stmt rest = tir::substitute(stmt->body, {{loop.var.get(), Expr(last)}});
    return tir::seq({tir::forLoop(blocks, whole),
                     tir::let(last, floorDiv(count, size),
                              tir::ifThen(Expr(last) * size < count, LastBlock(last).of(rest)))});
}

} // namespace

tir::Stmt splitTails(const tir::Stmt& body) { return tir::rewriteStmt(body, inBlocks); }

} // namespace tenon::compiler
