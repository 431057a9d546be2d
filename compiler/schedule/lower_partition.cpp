// SPDX-License-Identifier: Apache-2.0
// Lowering step: the iterations in which every guard holds get a loop of their own, without guards.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "core/ir/tir/visit.h"

#include <unordered_set>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Ranges;
using tir::Stmt;
using tir::StmtKind;

/// Guards hold but for so many iterations at either end, or the loop stays as it is.
constexpr int64_t kMostAtEnds = 8;
/// Where no iteration is free of guards, so few get a loop each, in which unrolling decides them.
constexpr int64_t kMostAlone = 4;

/// The register tile of a loop around just one; what several share would grow by copies of all.
Stmt onlyTileOf(const Stmt& stmt)
{
    std::vector<Stmt> tiles;
    tir::visitStmts(stmt, [&](const Stmt& s) {
        if (s->kind == StmtKind::Allocate && s->buffer->scope == tir::Scope::Register)
            tiles.push_back(s);
        return tiles.size() < 2;
    });
    return tiles.size() == 1 ? tiles.front() : nullptr;
}

void addTerms(const Expr& condition, const tir::VarNode* var, std::vector<Expr>& terms)
{
    if (condition->kind == ExprKind::And) {
        addTerms(condition->args[0], var, terms);
        addTerms(condition->args[1], var, terms);
    } else if (usesVar(condition, var)) {
        terms.push_back(condition);
    }
}

/// Terms of the guards of loads of a tile that depend on the loop, and the ranges of the loops
/// around them. Those of loads beside the tile, as of a copy with zeros around it, are not worth
/// copies of the tile.
struct Guards
{
    std::vector<Expr> terms;
    Ranges inner;
    bool areUnrolled = true; ///< the terms use this loop and unrolled ones only
};

Guards guardsOf(const tir::StmtNode& loop, const Stmt& tile)
{
    Guards guards;
    std::unordered_set<const tir::VarNode*> decided{loop.loop.var.get()};
    tir::visitStmts(loop.body, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::For) return true;
        if (const auto range = rangeOf(stmt->loop)) guards.inner[stmt->loop.var.get()] = *range;
        if (stmt->loop.kind == tir::LoopKind::Unrolled) decided.insert(stmt->loop.var.get());
        return true;
    });
    tir::visitExprsIn(tile, [&](const Expr& expr) {
        if (expr->kind == ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            addTerms(expr->args[0], loop.loop.var.get(), guards.terms);
        return true;
    });
    for (const Expr& term : guards.terms)
        tir::visitExprs(term, [&](const Expr& expr) {
            if (expr->kind == ExprKind::VarRef && !decided.contains(expr->var.get()))
                guards.areUnrolled = false;
            return true;
        });
    return guards;
}

class Partitioner
{
public:
    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        if (stmt->kind == StmtKind::For) return loop(stmt);
        tir::StmtNode copy = *stmt;
        for (Stmt& child : copy.stmts) child = visit(child);
        copy.body = visit(copy.body);
        copy.orElse = visit(copy.orElse);
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    Ranges m_outer;

    Stmt loop(const Stmt& stmt)
    {
        const tir::Loop& loop = stmt->loop;
        const auto range = rangeOf(loop);
        const bool canSplit = range && range->min == 0 && loop.kind == tir::LoopKind::Serial;
        const Stmt tile = isCutFree(*stmt, range) ? stmt->body
                          : canSplit              ? onlyTileOf(stmt->body)
                                                  : nullptr;
        if (tile) {
            const std::vector<int64_t> cuts = cutsOf(*stmt, tile, range->max + 1);
            if (!cuts.empty()) return split(*stmt, cuts);
        }
        if (range) m_outer[loop.var.get()] = *range;
        return tir::forLoop(loop, visit(stmt->body));
    }

    /// Two unrolled loops are as long as one. Only guards that unrolling does not decide are worth
    /// it: the border's position among those of a tile whose window is walked by loops.
    static bool isCutFree(const tir::StmtNode& stmt, const std::optional<tir::IntRange>& range)
    {
        return range && range->min == 0 && stmt.loop.kind == tir::LoopKind::Unrolled &&
               !guardsOf(stmt, stmt.body).areUnrolled;
    }

    /// Where to cut the loop: around the iterations in which every guard holds, or else between all
    /// of few; nowhere when that helps nobody.
    std::vector<int64_t> cutsOf(const tir::StmtNode& stmt, const Stmt& tile, int64_t extent)
    {
        const Guards guards = guardsOf(stmt, tile);
        Ranges ranges = m_outer;
        ranges.insert(guards.inner.begin(), guards.inner.end());
        const auto holds = [&](int64_t i) {
            ranges[stmt.loop.var.get()] = {i, i};
            for (const Expr& term : guards.terms)
                if (!tir::simplify(term, ranges).isConstInt(1)) return false;
            return true;
        };
        int64_t begin = 0, end = extent;
        while (begin < extent && begin <= kMostAtEnds && !holds(begin)) ++begin;
        while (end > begin && extent - end <= kMostAtEnds && !holds(end - 1)) --end;
        std::vector<int64_t> cuts;
        if (begin == end && extent <= kMostAlone && guards.areUnrolled)
            for (int64_t i = 1; i < extent; ++i) cuts.push_back(i);
        if (begin > kMostAtEnds || extent - end > kMostAtEnds || begin >= end) return cuts;
        if (begin > 0) cuts.push_back(begin);
        if (end < extent) cuts.push_back(end);
        return cuts;
    }

    Stmt split(const tir::StmtNode& stmt, const std::vector<int64_t>& cuts)
    {
        std::vector<Stmt> parts;
        int64_t from = 0;
        for (size_t i = 0; i <= cuts.size(); ++i) {
            const int64_t to = i < cuts.size() ? cuts[i] : stmt.loop.extent->integer;
            tir::Loop part = stmt.loop;
            part.var = tir::makeVar(stmt.loop.var->name, stmt.loop.var->dtype);
            part.extent = to - from;
            m_outer[part.var.get()] = {0, to - from - 1};
            const Stmt body =
                tir::substitute(stmt.body, {{stmt.loop.var.get(), Expr(part.var) + from}});
            parts.push_back(tir::forLoop(part, visit(tir::simplify(body, m_outer))));
            from = to;
        }
        return tir::seq(std::move(parts));
    }
};

} // namespace

tir::Stmt partitionLoops(const tir::Stmt& body) { return Partitioner().visit(body); }

} // namespace tenon::compiler
