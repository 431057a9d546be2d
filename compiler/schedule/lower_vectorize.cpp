// SPDX-License-Identifier: Apache-2.0
// Lowering step: vectorized loops become vector expressions.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

Expr widened(const Expr& expr, int lanes)
{
    return expr->dtype.lanes == 1 ? tir::broadcast(expr, lanes) : expr;
}

/// Values of loop variables: first and number.
using LoopRanges = std::unordered_map<const tir::VarNode*, std::pair<int64_t, int64_t>>;

LoopRanges rangesIn(const Stmt& body)
{
    LoopRanges ranges;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        const tir::Loop& loop = stmt->loop;
        if (stmt->kind == StmtKind::For && loop.min->kind == ExprKind::IntImm &&
            loop.extent->kind == ExprKind::IntImm)
            ranges[loop.var.get()] = {loop.min->integer, loop.extent->integer};
        return true;
    });
    return ranges;
}

/// Rewrites the body of one vectorized loop; gives up (failed) where lanes would need a different
/// control flow each.
class Vectorizer
{
public:
    Vectorizer(const tir::Loop& loop, int lanes, const LoopRanges& ranges, LaneChoice choice)
        : m_loop(loop)
        , m_lanes(lanes)
        , m_ranges(ranges)
        , m_choice(choice)
    {
    }

    bool failed = false;

    Stmt visit(const Stmt& stmt)
    {
        if (!stmt || failed) return stmt;
        switch (stmt->kind) {
        case StmtKind::Seq: {
            std::vector<Stmt> out;
            for (const Stmt& child : stmt->stmts) out.push_back(visit(child));
            return tir::seq(std::move(out));
        }
        case StmtKind::For: return nested(*stmt);
        case StmtKind::Store: return storeStmt(*stmt);
        case StmtKind::If: {
            if (varies(stmt->condition)) return maskedStore(*stmt);
            return tir::ifThen(stmt->condition, visit(stmt->body), visit(stmt->orElse));
        }
        case StmtKind::Let: return letStmt(*stmt);
        case StmtKind::Evaluate:
        case StmtKind::Allocate:
        case StmtKind::While:
        case StmtKind::Block: return giveUp(stmt);
        }
        return stmt;
    }

private:
    const tir::Loop& m_loop;
    int m_lanes;
    const LoopRanges& m_ranges; ///< of the loops around, too
    LaneChoice m_choice;
    std::unordered_map<const tir::VarNode*, tir::Var> m_vectorLets;

    Stmt giveUp(const Stmt& stmt)
    {
        failed = true;
        return stmt;
    }

    bool varies(const Expr& root)
    {
        bool found = false;
        tir::visitExprs(root, [&](const Expr& expr) {
            found = found || (expr->kind == ExprKind::VarRef &&
                              (expr->var == m_loop.var || m_vectorLets.contains(expr->var.get())));
            return !found;
        });
        return found;
    }

    /// The expression itself; the loop cannot be vectorized when it differs between lanes.
    Expr scalar(const Expr& expr)
    {
        failed = failed || varies(expr);
        return expr;
    }

    Stmt nested(const tir::StmtNode& stmt)
    {
        const tir::Loop& loop = stmt.loop;
        if (loop.kind != tir::LoopKind::Serial && loop.kind != tir::LoopKind::Unrolled)
            failed = true;
        scalar(loop.min);
        scalar(loop.extent);
        return tir::forLoop(loop, visit(stmt.body));
    }

    Stmt letStmt(const tir::StmtNode& stmt)
    {
        if (!varies(stmt.value)) return tir::let(stmt.var, stmt.value, visit(stmt.body));
        const Expr value = vectorOf(stmt.value);
        const tir::Var var = tir::makeVar(stmt.var->name, value->dtype);
        m_vectorLets[stmt.var.get()] = var;
        return tir::let(var, value, visit(stmt.body));
    }

    Stmt storeStmt(const tir::StmtNode& stmt)
    {
        // Lanes that all write one element are a reduction, not a vector.
        if (!varies(stmt.indices[0])) failed = true;
        if (failed) return nullptr;
        const Expr index = vectorOf(stmt.indices[0]);
        return tir::store(stmt.buffer, {index}, widened(vectorOf(stmt.value), m_lanes));
    }

    /// Lanes outside the condition store what they read: possible where every lane owns an element
    /// of the buffer, whether the condition holds or not.
    Stmt maskedStore(const tir::StmtNode& stmt)
    {
        const bool isStore = stmt.body->kind == StmtKind::Store && !stmt.orElse;
        if (!isStore || !varies(stmt.body->indices[0])) return giveUp(stmt.body);
        const auto index = rampOf(stmt.body->indices[0]);
        if (!index || !isInside(*stmt.body->buffer, **index) || !canMask(stmt.body->value))
            return giveUp(stmt.body);
        const Expr old = tir::load(stmt.body->buffer, {*index});
        const Expr value = widened(vectorOf(stmt.body->value), m_lanes);
        const Expr condition = vectorOf(stmt.condition);
        if (failed || condition->dtype.lanes != m_lanes) return giveUp(stmt.body);
        return tir::store(
            stmt.body->buffer, {*index},
            tir::call(tir::Intrinsic::IfThenElse, value->dtype, {condition, value, old}));
    }

    /// Loads that differ between lanes get masks; nothing else may need the condition.
    bool canMask(const Expr& value)
    {
        bool needsIt = false;
        tir::visitExprs(value, [&](const Expr& expr) {
            const bool divides = expr->kind == ExprKind::Div || expr->kind == ExprKind::Mod ||
                                 expr->kind == ExprKind::FloorDiv ||
                                 expr->kind == ExprKind::FloorMod;
            needsIt =
                needsIt || (expr->kind == ExprKind::Load && !varies(expr->args[0])) ||
                (divides && !expr->dtype.isFloat() && expr->args[1]->kind != ExprKind::IntImm);
            return !needsIt;
        });
        return !needsIt;
    }

    bool isInside(const tir::BufferNode& buffer, const tir::ExprNode& ramp) const
    {
        const Expr& step = ramp.args[1];
        if (step->kind != ExprKind::IntImm || step->integer < 0) return false;
        int64_t elements = 1;
        for (const Expr& extent : buffer.shape) {
            if (extent->kind != ExprKind::IntImm) return false;
            elements *= extent->integer;
        }
        const Affine base = affineOf(ramp.args[0]);
        const int64_t width = step->integer * m_lanes;
        int64_t first = base.constant, last = base.constant + width - step->integer;
        for (const AffineTerm& term : base.terms) {
            const auto range = term.atom->kind == ExprKind::VarRef
                                   ? m_ranges.find(term.atom->var.get())
                                   : m_ranges.end();
            // No other iteration, perhaps of another thread, may own an element of these lanes.
            if (range == m_ranges.end() || std::abs(term.coefficient) < width) return false;
            const auto [begin, count] = range->second;
            const int64_t ends[] = {begin * term.coefficient,
                                    (begin + count - 1) * term.coefficient};
            first += std::min(ends[0], ends[1]);
            last += std::max(ends[0], ends[1]);
        }
        return first >= 0 && last < elements;
    }

    /// Linear indices become one Ramp.
    std::optional<Expr> rampOf(const Expr& expr)
    {
        if (expr->dtype != m_loop.var->dtype) return std::nullopt;
        const Affine affine = affineOf(expr);
        Affine base{.terms = {}, .constant = affine.constant};
        int64_t stride = 0;
        for (const AffineTerm& term : affine.terms) {
            if (term.atom->kind == ExprKind::VarRef && term.atom->var == m_loop.var)
                stride = term.coefficient;
            else if (varies(term.atom))
                return std::nullopt;
            else
                base.terms.push_back(term);
        }
        if (stride == 0) return std::nullopt;
        return tir::ramp(exprOf(base) + m_loop.min * stride, tir::intImm(stride, expr->dtype),
                         m_lanes);
    }

    Expr vectorOf(const Expr& expr)
    {
        if (failed || !varies(expr)) return expr;
        if (const auto ramp = rampOf(expr)) return *ramp;
        if (expr->kind == ExprKind::VarRef) return m_vectorLets.at(expr->var.get());
        if (expr->dtype.lanes > 1) {
            failed = true;
            return expr;
        }
        if (expr->kind == ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            return guarded(*expr);
        std::vector<Expr> args;
        for (const Expr& arg : expr->args) args.push_back(vectorOf(arg));
        if (failed) return expr;
        switch (expr->kind) {
        case ExprKind::Load: return tir::load(expr->buffer, std::move(args));
        case ExprKind::Select: {
            const Expr condition = args[0]; // a scalar condition chooses between whole vectors
            return tir::select(condition, widened(args[1], m_lanes), widened(args[2], m_lanes));
        }
        case ExprKind::Not: return !args[0];
        case ExprKind::Cast: return tir::cast(expr->dtype.withLanes(m_lanes), args[0]);
        case ExprKind::Intrinsic:
            for (Expr& arg : args) arg = widened(arg, m_lanes);
            return tir::call(expr->intrinsic, expr->dtype.withLanes(m_lanes), std::move(args));
        default:
            return tir::binary(expr->kind, widened(args[0], m_lanes), widened(args[1], m_lanes));
        }
    }

    /// Only one side may be evaluated, so all lanes have to agree on it, or have a mask.
    Expr guarded(const tir::ExprNode& expr)
    {
        const bool isMasked = m_choice == LaneChoice::Own && varies(expr.args[0]) &&
                              canMask(expr.args[1]) && canMask(expr.args[2]);
        const Expr condition = isMasked ? vectorOf(expr.args[0]) : scalar(expr.args[0]);
        const Expr then = widened(vectorOf(expr.args[1]), m_lanes);
        const Expr otherwise = widened(vectorOf(expr.args[2]), m_lanes);
        return tir::call(tir::Intrinsic::IfThenElse, expr.dtype.withLanes(m_lanes),
                         {condition, then, otherwise});
    }
};

Stmt lowerLoop(const Stmt& stmt, const LoopRanges& ranges, LaneChoice choice)
{
    if (stmt->kind != StmtKind::For || stmt->loop.kind != tir::LoopKind::Vectorized) return stmt;
    tir::Loop loop = stmt->loop;
    if (loop.extent->kind == ExprKind::IntImm && loop.extent->integer > 1 &&
        loop.extent->integer <= UINT16_MAX) {
        Vectorizer vectorizer(loop, static_cast<int>(loop.extent->integer), ranges, choice);
        const Stmt body = vectorizer.visit(stmt->body);
        if (!vectorizer.failed) return body;
    }
    loop.kind = tir::LoopKind::Serial;
    return tir::forLoop(std::move(loop), stmt->body);
}

} // namespace

tir::Stmt lowerVectorized(const tir::Stmt& body, LaneChoice choice)
{
    const LoopRanges ranges = rangesIn(body);
    return tir::rewriteStmt(body,
                            [&](const Stmt& stmt) { return lowerLoop(stmt, ranges, choice); });
}

} // namespace tenon::compiler
