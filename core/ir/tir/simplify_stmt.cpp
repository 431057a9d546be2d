// SPDX-License-Identifier: Apache-2.0
// Simplifying statements: every expression under the ranges of the loops around it; dead code goes.
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

namespace tenon::tir {
namespace {

class StmtSimplifier
{
public:
    explicit StmtSimplifier(const Ranges& ranges)
        : m_ranges(ranges)
    {
    }

    /// Null when nothing is left to do.
    Stmt stmt(const Stmt& s)
    {
        if (!s) return s;
        switch (s->kind) {
        case StmtKind::Seq: return sequence(s);
        case StmtKind::For: return loop(s);
        case StmtKind::Block: return block(s);
        case StmtKind::If: return condition(s);
        case StmtKind::Let: return binding(s);
        default: return plain(s);
        }
    }

private:
    Expr expr(const Expr& e) { return simplify(e, m_ranges); }

    Stmt sequence(const Stmt& s)
    {
        std::vector<Stmt> stmts;
        bool changed = false;
        for (const Stmt& inner : s->stmts) {
            Stmt after = stmt(inner);
            changed = changed || after != inner;
            if (after) stmts.push_back(std::move(after));
        }
        if (stmts.empty()) return nullptr;
        return changed ? seq(std::move(stmts)) : s;
    }

    /// Sets the range of a variable for the duration of `work`.
    template <class Work>
    auto with(const Var& var, const std::optional<IntRange>& range, Work work)
    {
        const auto found = m_ranges.find(var.get());
        const std::optional<IntRange> before =
            found == m_ranges.end() ? std::nullopt : std::optional(found->second);
        if (range) m_ranges[var.get()] = *range;
        auto out = work();
        if (before)
            m_ranges[var.get()] = *before;
        else
            m_ranges.erase(var.get());
        return out;
    }

    std::optional<IntRange> domain(const Expr& min, const Expr& extent) const
    {
        const auto first = boundsOf(min, m_ranges);
        const auto count = boundsOf(extent, m_ranges);
        if (!first || !count || count->max < 1) return std::nullopt;
        int64_t last = 0;
        if (__builtin_add_overflow(first->max, count->max - 1, &last)) return std::nullopt;
        return IntRange{first->min, last};
    }

    Stmt loop(const Stmt& s)
    {
        StmtNode copy = *s;
        copy.loop.min = expr(copy.loop.min);
        copy.loop.extent = expr(copy.loop.extent);
        const auto count = boundsOf(copy.loop.extent, m_ranges);
        if (count && count->max <= 0) return nullptr;
        if (copy.loop.extent.isConstInt(1) && copy.loop.kind != LoopKind::Thread)
            return stmt(substitute(s->body, {{s->loop.var.get(), copy.loop.min}}));
        copy.body = with(copy.loop.var, domain(copy.loop.min, copy.loop.extent),
                         [&] { return stmt(s->body); });
        if (!copy.body) return nullptr;
        const bool isSame = copy.body == s->body && copy.loop.min.get() == s->loop.min.get() &&
                            copy.loop.extent.get() == s->loop.extent.get();
        return isSame ? s : std::make_shared<const StmtNode>(std::move(copy));
    }

    Stmt block(const Stmt& s)
    {
        StmtNode copy = *s;
        for (IterVar& iter : copy.block.iters) {
            iter.extent = expr(iter.extent);
            iter.binding = expr(iter.binding);
        }
        if (copy.block.predicate.get()) copy.block.predicate = expr(copy.block.predicate);
        if (copy.block.predicate.get() && copy.block.predicate.isConstInt(0)) return nullptr;
        if (copy.block.predicate.get() && copy.block.predicate.isConstInt(1))
            copy.block.predicate = {};
        Ranges outer = m_ranges;
        for (const IterVar& iter : copy.block.iters)
            if (const auto range = iterRange(iter)) outer[iter.var.get()] = *range;
        std::swap(outer, m_ranges);
        copy.init = stmt(s->init);
        copy.body = stmt(s->body);
        std::swap(outer, m_ranges);
        if (!copy.body && !copy.init) return nullptr;
        if (!copy.body) copy.body = seq({});
        return std::make_shared<const StmtNode>(std::move(copy));
    }

    /// Where the block runs: its domain, and no further than its binding reaches.
    std::optional<IntRange> iterRange(const IterVar& iter) const
    {
        const auto range = domain(Expr(0), iter.extent);
        const auto bound = boundsOf(iter.binding, m_ranges);
        if (!range) return bound;
        if (!bound) return range;
        const IntRange both{std::max(range->min, bound->min), std::min(range->max, bound->max)};
        return both.min <= both.max ? both : range;
    }

    Stmt condition(const Stmt& s)
    {
        StmtNode copy = *s;
        copy.condition = expr(s->condition);
        if (copy.condition.isConstInt(1)) return stmt(s->body);
        if (copy.condition.isConstInt(0)) return stmt(s->orElse);
        Ranges before = m_ranges;
        refine(copy.condition);
        copy.body = stmt(s->body);
        std::swap(before, m_ranges);
        copy.orElse = stmt(s->orElse);
        if (!copy.body && !copy.orElse) return nullptr;
        if (!copy.body) {
            copy.condition = !copy.condition;
            std::swap(copy.body, copy.orElse);
        }
        return std::make_shared<const StmtNode>(std::move(copy));
    }

    void refine(const Expr& e)
    {
        if (e->kind == ExprKind::And)
            for (const Expr& part : e->args) refine(part);
        if (e->kind < ExprKind::Less || e->kind > ExprKind::GreaterEqual || !isIndex(e->args[0]))
            return;
        const Sum a = asWritten(e->args[0]), b = asWritten(e->args[1]);
        const bool isLess = e->kind == ExprKind::Less || e->kind == ExprKind::LessEqual;
        const bool isStrict = e->kind == ExprKind::Less || e->kind == ExprKind::Greater;
        Sum negative = isLess ? added(a, b, -1) : added(b, a, -1);
        negative = added(negative, Sum::ofConstant(isStrict ? 0 : -1));
        if (negative.isExact) refineByNegative(negative, m_ranges);
    }

    Stmt binding(const Stmt& s)
    {
        StmtNode copy = *s;
        copy.value = expr(s->value);
        const bool isLeaf = copy.value->args.empty() && copy.value->kind != ExprKind::Load;
        if (isLeaf) return stmt(substitute(s->body, {{s->var.get(), copy.value}}));
        copy.body = with(s->var, boundsOf(copy.value, m_ranges), [&] { return stmt(s->body); });
        return copy.body ? std::make_shared<const StmtNode>(std::move(copy)) : nullptr;
    }

    Stmt plain(const Stmt& s)
    {
        StmtNode copy = *s;
        bool changed = false;
        const auto replace = [&](Expr& field) {
            if (field.get() == nullptr) return;
            Expr after = expr(field);
            changed = changed || after.get() != field.get();
            field = std::move(after);
        };
        for (Expr& index : copy.indices) replace(index);
        replace(copy.value);
        replace(copy.condition);
        copy.body = stmt(s->body);
        if (s->body && !copy.body) {
            if (s->kind != StmtKind::While) return nullptr;
            copy.body = seq({});
        }
        changed = changed || copy.body != s->body;
        return changed ? std::make_shared<const StmtNode>(std::move(copy)) : s;
    }

    Ranges m_ranges;
};

} // namespace

Stmt simplify(const Stmt& stmt, const Ranges& ranges)
{
    Stmt out = StmtSimplifier(ranges).stmt(stmt);
    return out || !stmt ? out : seq({});
}

} // namespace tenon::tir
