// SPDX-License-Identifier: Apache-2.0
// Lowering step: the iterations in which every guard holds get a loop of their own, without guards.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Ranges;
using tir::Stmt;
using tir::StmtKind;

/// Guards hold but for so many iterations at either end, or the loop stays as it is.
constexpr int64_t kMostAtEnds = 8;

bool holdsRegisters(const Stmt& stmt)
{
    bool found = false;
    tir::visitStmts(stmt, [&](const Stmt& s) {
        found =
            found || (s->kind == StmtKind::Allocate && s->buffer->scope == tir::Scope::Register);
        return !found;
    });
    return found;
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

/// Terms of the guards of loads that depend on the loop, and the ranges of the loops around them.
struct Guards
{
    std::vector<Expr> terms;
    Ranges inner;
};

Guards guardsOf(const tir::StmtNode& loop)
{
    Guards guards;
    tir::visitStmts(loop.body, [&](const Stmt& stmt) {
        if (stmt->kind == StmtKind::For)
            if (const auto range = rangeOf(stmt->loop)) guards.inner[stmt->loop.var.get()] = *range;
        return true;
    });
    tir::visitExprsIn(loop.body, [&](const Expr& expr) {
        if (expr->kind == ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            addTerms(expr->args[0], loop.loop.var.get(), guards.terms);
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
        const bool canSplit = range && range->min == 0 && loop.kind == tir::LoopKind::Serial &&
                              holdsRegisters(stmt->body);
        if (canSplit) {
            const auto [begin, end] = wholeOf(*stmt, range->max + 1);
            if (begin > 0 || end <= range->max) return split(*stmt, begin, end);
        }
        if (range) m_outer[loop.var.get()] = *range;
        return tir::forLoop(loop, visit(stmt->body));
    }

    /// The iterations [first, second) in which every guard holds; all when they cannot be told.
    std::pair<int64_t, int64_t> wholeOf(const tir::StmtNode& stmt, int64_t extent)
    {
        const Guards guards = guardsOf(stmt);
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
        const bool isUseful = begin <= kMostAtEnds && extent - end <= kMostAtEnds && begin < end;
        return isUseful ? std::pair{begin, end} : std::pair{int64_t{0}, extent};
    }

    Stmt split(const tir::StmtNode& stmt, int64_t begin, int64_t end)
    {
        std::vector<Stmt> parts;
        const int64_t extent = stmt.loop.extent->integer;
        for (const auto& [from, to] : {std::pair{int64_t{0}, begin}, {begin, end}, {end, extent}}) {
            if (from == to) continue;
            tir::Loop part = stmt.loop;
            part.var = tir::makeVar(stmt.loop.var->name, stmt.loop.var->dtype);
            part.extent = to - from;
            m_outer[part.var.get()] = {0, to - from - 1};
            const Stmt body =
                tir::substitute(stmt.body, {{stmt.loop.var.get(), Expr(part.var) + from}});
            parts.push_back(tir::forLoop(part, visit(tir::simplify(body, m_outer))));
        }
        return tir::seq(std::move(parts));
    }
};

} // namespace

tir::Stmt partitionLoops(const tir::Stmt& body) { return Partitioner().visit(body); }

} // namespace tenon::compiler
