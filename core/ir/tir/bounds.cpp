// SPDX-License-Identifier: Apache-2.0
// Interval bounds of integer expressions.
#include "core/ir/tir/sum.h"

#include <algorithm>

namespace tenon::tir {
namespace {

using Range = std::optional<IntRange>;

Range hull(const Range& a, const Range& b)
{
    if (!a || !b) return std::nullopt;
    return IntRange{std::min(a->min, b->min), std::max(a->max, b->max)};
}

Range scaledRange(const IntRange& range, int64_t factor)
{
    int64_t a = 0, b = 0;
    if (__builtin_mul_overflow(range.min, factor, &a) ||
        __builtin_mul_overflow(range.max, factor, &b))
        return std::nullopt;
    return IntRange{std::min(a, b), std::max(a, b)};
}

Range sumOf(const IntRange& a, const IntRange& b)
{
    IntRange out{};
    if (__builtin_add_overflow(a.min, b.min, &out.min) ||
        __builtin_add_overflow(a.max, b.max, &out.max))
        return std::nullopt;
    return out;
}

Range productOf(const Range& a, const Range& b)
{
    if (!a || !b) return std::nullopt;
    return hull(scaledRange(*a, b->min), scaledRange(*a, b->max));
}

/// Values a narrower integer type can hold.
Range rangeOfType(DataType dtype)
{
    if (dtype.isBool()) return IntRange{0, 1};
    if (!dtype.isInt() || dtype.bits >= 64 || dtype.lanes != 1) return std::nullopt;
    if (dtype.isSigned())
        return IntRange{-(int64_t{1} << (dtype.bits - 1)), (int64_t{1} << (dtype.bits - 1)) - 1};
    return IntRange{0, (int64_t{1} << dtype.bits) - 1};
}

} // namespace

Range Bounds::of(const Sum& sum)
{
    if (!sum.isExact) return std::nullopt;
    Range total = IntRange{sum.constant, sum.constant};
    for (const Term& term : sum.terms) {
        const Range atom = of(term.atom);
        const Range part = atom ? scaledRange(*atom, term.coefficient) : std::nullopt;
        total = part ? sumOf(*total, *part) : std::nullopt;
        if (!total) return std::nullopt;
    }
    return total;
}

Range Bounds::of(const Expr& expr)
{
    if (expr->kind == ExprKind::IntImm) return IntRange{expr->integer, expr->integer};
    if (expr->kind == ExprKind::VarRef) {
        const auto found = m_ranges.find(expr->var.get());
        return found == m_ranges.end() ? rangeOfType(expr->dtype) : found->second;
    }
    const auto known = m_known.find(expr.get());
    if (known != m_known.end()) return known->second.second;
    const Range range = compute(*expr, expr);
    m_known.emplace(expr.get(), std::make_pair(expr, range));
    return range;
}

Range Bounds::ofQuotient(const Expr& a, const Expr& b, bool isRemainder)
{
    const Range n = of(a);
    const Range d = of(b);
    if (!d || d->min <= 0) return std::nullopt;
    if (isRemainder) {
        if (n && n->min >= 0 && n->max < d->min) return n;
        if (n && d->min == d->max && floorDivide(n->min, d->min) == floorDivide(n->max, d->min)) {
            const int64_t base = floorDivide(n->min, d->min) * d->min;
            return IntRange{n->min - base, n->max - base};
        }
        return IntRange{0, d->max - 1};
    }
    if (!n) return std::nullopt;
    return IntRange{std::min(floorDivide(n->min, d->min), floorDivide(n->min, d->max)),
                    std::max(floorDivide(n->max, d->min), floorDivide(n->max, d->max))};
}

Range Bounds::compute(const ExprNode& expr, const Expr& handle)
{
    if (expr.dtype != kInt64) return rangeOfType(expr.dtype);
    const auto& args = expr.args;
    switch (expr.kind) {
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul: {
        const Sum sum = asWritten(handle);
        const bool isItself = sum.terms.size() == 1 && sum.terms[0].atom.get() == &expr;
        if (!isItself) return of(sum);
        return expr.kind == ExprKind::Mul ? productOf(of(args[0]), of(args[1])) : std::nullopt;
    }
    case ExprKind::FloorDiv: return ofQuotient(args[0], args[1], false);
    case ExprKind::FloorMod: return ofQuotient(args[0], args[1], true);
    case ExprKind::Div:
    case ExprKind::Mod: {
        const Range n = of(args[0]);
        if (!n || n->min < 0) return std::nullopt;
        return ofQuotient(args[0], args[1], expr.kind == ExprKind::Mod);
    }
    case ExprKind::Min:
    case ExprKind::Max: {
        const Range a = of(args[0]), b = of(args[1]);
        if (!a || !b) return std::nullopt;
        if (expr.kind == ExprKind::Min)
            return IntRange{std::min(a->min, b->min), std::min(a->max, b->max)};
        return IntRange{std::max(a->min, b->min), std::max(a->max, b->max)};
    }
    case ExprKind::Select: return hull(of(args[1]), of(args[2]));
    case ExprKind::Intrinsic:
        if (expr.intrinsic == Intrinsic::IfThenElse) return hull(of(args[1]), of(args[2]));
        if (expr.intrinsic == Intrinsic::Likely) return of(args[0]);
        return std::nullopt;
    case ExprKind::Cast:
        return args[0]->dtype.isInt() && args[0]->dtype.bits < 64 ? rangeOfType(args[0]->dtype)
                                                                  : std::nullopt;
    default: return std::nullopt;
    }
}

bool refineByNegative(const Sum& sum, Ranges& ranges)
{
    if (sum.terms.size() != 1 || sum.terms[0].atom->kind != ExprKind::VarRef) return false;
    const auto found = ranges.find(sum.terms[0].atom->var.get());
    if (found == ranges.end()) return false;
    const int64_t a = sum.terms[0].coefficient;
    IntRange& range = found->second;
    const IntRange before = range;
    if (a > 0)
        range.max = std::min(range.max, floorDivide(-sum.constant - 1, a));
    else
        range.min = std::max(range.min, -floorDivide(-sum.constant - 1, -a));
    if (range.min > range.max) range = before; // contradiction: the code is dead, keep it plain
    return range.min != before.min || range.max != before.max;
}

Range boundsOf(const Expr& expr, const Ranges& ranges) { return Bounds(ranges).of(expr); }

} // namespace tenon::tir
