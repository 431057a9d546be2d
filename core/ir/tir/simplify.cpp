// SPDX-License-Identifier: Apache-2.0
// Simplifying expressions: canonical sums, divisions and comparisons decided by ranges.
#include "core/ir/tir/simplify.h"

#include "core/ir/tir/division.h"
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <numeric>

namespace tenon::tir {
namespace {

bool isIndexVector(const Expr& expr)
{
    return expr->dtype.lanes > 1 && expr->dtype.scalar() == kInt64;
}

int64_t gcdOf(const Sum& sum)
{
    int64_t gcd = 0;
    for (const Term& term : sum.terms) gcd = std::gcd(gcd, term.coefficient);
    return gcd;
}

/// Equality of quotients whatever the order of the terms that they divide: that of a nested
/// quotient is another one.
bool isSameQuotient(const Expr& a, const Expr& b)
{
    if (sameExpr(a, b)) return true;
    if (a->kind != ExprKind::FloorDiv || b->kind != ExprKind::FloorDiv ||
        !sameExpr(a->args[1], b->args[1]))
        return false;
    const Sum rest = added(asWritten(a->args[0]), asWritten(b->args[0]), -1);
    return rest.isConst() && rest.constant == 0;
}

class Simplifier
{
public:
    explicit Simplifier(const Ranges& ranges)
        : m_ranges(ranges)
        , m_bounds(ranges)
    {
    }

    Expr expr(const Expr& e)
    {
        if (e->args.empty() && e->kind != ExprKind::VarRef) return e;
        const auto known = m_known.find(e.get());
        if (known != m_known.end()) return known->second.second;
        Expr out = compute(e);
        if (out.get() != e.get() && sameExpr(out, e)) out = e;
        m_known.emplace(e.get(), std::make_pair(e, out));
        return out;
    }

    Sum sum(const Expr& e)
    {
        Sum out = sumUnchecked(e);
        return out.isExact ? out : Sum::ofAtom(rebuilt(e));
    }

private:
    Expr compute(const Expr& e)
    {
        if (isIndex(e)) return toExpr(sum(e));
        if (isIndexVector(e) || (isComparison(e->kind) && isIndexVector(e->args[0])))
            return vector(e);
        if (isComparison(e->kind) && isIndex(e->args[0])) return comparison(e);
        return rebuilt(e);
    }

    /// The node over simplified operands, logic and conditions decided.
    Expr rebuilt(const Expr& e)
    {
        if (e->kind == ExprKind::Select) return conditional(e);
        if (e->kind == ExprKind::Intrinsic) {
            if (e->intrinsic == Intrinsic::IfThenElse) return conditional(e);
            if (e->intrinsic == Intrinsic::Likely) {
                const Expr inner = expr(e->args[0]);
                if (inner->kind == ExprKind::IntImm) return inner;
            }
        }
        std::vector<Expr> args;
        bool changed = false;
        for (const Expr& arg : e->args) {
            args.push_back(expr(arg));
            changed = changed || args.back().get() != arg.get();
        }
        const bool isLogic = e->kind == ExprKind::And || e->kind == ExprKind::Or;
        if (isLogic && sameExpr(args[0], args[1])) return args[0];
        return changed ? withArgs(e, std::move(args)) : e;
    }

    Expr conditional(const Expr& e)
    {
        const Expr condition = expr(e->args[0]);
        if (condition.isConstInt(1)) return expr(e->args[1]);
        if (condition.isConstInt(0)) return expr(e->args[2]);
        Expr then;
        if (Ranges refined = m_ranges; e->kind == ExprKind::Intrinsic && refine(condition, refined))
            then = Simplifier(refined).expr(e->args[1]);
        else
            then = expr(e->args[1]);
        const Expr other = expr(e->args[2]);
        if (sameExpr(then, other)) return then;
        const bool isSame = condition.get() == e->args[0].get() && then.get() == e->args[1].get() &&
                            other.get() == e->args[2].get();
        return isSame ? e : withArgs(e, {condition, then, other});
    }

    /// Only for code that does not run when the condition fails: simplified loads may lose guards.
    bool refine(const Expr& condition, Ranges& ranges)
    {
        if (condition->kind == ExprKind::And) {
            const bool first = refine(condition->args[0], ranges);
            return refine(condition->args[1], ranges) || first;
        }
        const bool isOrder =
            condition->kind >= ExprKind::Less && condition->kind <= ExprKind::GreaterEqual;
        if (!isOrder || !isIndex(condition->args[0])) return false;
        return refineByNegative(negativeForm(condition), ranges);
    }

    Expr vector(const Expr& e)
    {
        const Var lane = makeVar("lane");
        const int lanes = e->dtype.lanes;
        if (const Expr scalar = asScalar(e, lane); scalar.get()) {
            Ranges ranges = m_ranges;
            ranges[lane.get()] = {0, lanes - 1};
            Simplifier inner(ranges);
            if (!isIndex(scalar)) {
                const Expr decided = inner.expr(scalar);
                if (!mentions(decided, lane.get())) return broadcast(decided, lanes);
            } else if (const Expr linear = rampOf(inner.sum(scalar), lane, lanes); linear.get()) {
                return linear;
            }
        }
        return rebuilt(e);
    }

    Sum sumUnchecked(const Expr& e)
    {
        const auto& args = e->args;
        if (!isIndex(e)) return Sum::ofAtom(expr(e));
        switch (e->kind) {
        case ExprKind::IntImm: return Sum::ofConstant(e->integer);
        case ExprKind::VarRef: {
            const auto range = m_bounds.of(e);
            return range && range->min == range->max ? Sum::ofConstant(range->min) : Sum::ofAtom(e);
        }
        case ExprKind::Add: return joined(added(sum(args[0]), sum(args[1])));
        case ExprKind::Sub: return joined(added(sum(args[0]), sum(args[1]), -1));
        case ExprKind::Mul: return product(sum(args[0]), sum(args[1]));
        case ExprKind::FloorDiv:
        case ExprKind::FloorMod:
        case ExprKind::Div:
        case ExprKind::Mod: return division(e);
        case ExprKind::Min:
        case ExprKind::Max: return extremum(e);
        default: break;
        }
        const Expr other = rebuilt(e);
        if (other.get() == e.get() || (other->kind == e->kind && !isArithmetic(other->kind)))
            return Sum::ofAtom(other);
        return asWritten(other);
    }

    Sum product(const Sum& a, const Sum& b)
    {
        if (a.isConst()) return scaled(b, a.constant);
        if (b.isConst()) return scaled(a, b.constant);
        return Sum::ofAtom(toExpr(a) * toExpr(b));
    }

    /// True for sums and products of data, which wrap around at 64 bits: those of indices stay far
    /// below. Their value is that of the sum all the same; its sign and quotients are not.
    bool mayWrap(const Sum& sum)
    {
        if (sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.constant == 0)
            return false;
        return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const Term& term) {
            return isLoaded(term.atom, {}) && !m_bounds.of(term.atom);
        });
    }

    Sum division(const Expr& e)
    {
        const bool isQuotient = e->kind == ExprKind::FloorDiv || e->kind == ExprKind::Div;
        const bool isFloor = e->kind == ExprKind::FloorDiv || e->kind == ExprKind::FloorMod;
        const Sum n = sum(e->args[0]);
        const Sum d = sum(e->args[1]);
        const auto range = m_bounds.of(n);
        if (!d.isConst() || d.constant <= 0 || mayWrap(n) ||
            !(isFloor || (range && range->min >= 0)))
            return Sum::ofAtom(binary(e->kind, toExpr(n), toExpr(d)));
        return isQuotient ? quotient(n, d.constant) : remainder(n, d.constant);
    }

    bool isWithin(const Sum& rest, int64_t limit)
    {
        const auto range = m_bounds.of(rest);
        return range && range->min >= 0 && range->max < limit;
    }

    /// A g > 1 dividing `divisor` so that what g does not divide lies in [0, g); 0 for none.
    int64_t droppable(const Sum& sum, int64_t divisor)
    {
        for (const Term& term : sum.terms) {
            const int64_t g = std::gcd(term.coefficient, divisor);
            if (g > 1 && isWithin(divided(sum, g).rest, g)) return g;
        }
        return 0;
    }

    /// floor((r + floor(a / d)) / divisor) = floor((r * d + a) / (d * divisor)), and
    /// floor((a mod d) / divisor) = floor(a / divisor) mod (d / divisor).
    std::optional<Sum> ofNestedQuotient(const Sum& sum, int64_t divisor)
    {
        for (const Term& term : sum.terms) {
            const Expr& atom = term.atom;
            const bool byConst = atom->args.size() == 2 && atom->args[1]->kind == ExprKind::IntImm;
            const int64_t d = byConst ? atom->args[1]->integer : 0;
            if (term.coefficient != 1 || d <= 0) continue;
            int64_t both = 0;
            if (atom->kind == ExprKind::FloorDiv && !__builtin_mul_overflow(d, divisor, &both)) {
                const Sum rest = added(sum, Sum::ofAtom(atom), -1);
                const Sum inside = added(asWritten(atom->args[0]), rest, d);
                if (inside.isExact) return quotient(inside, both);
            }
            if (atom->kind == ExprKind::FloorMod && d % divisor == 0 && sum.terms.size() == 1 &&
                sum.constant == 0)
                return remainder(quotient(asWritten(atom->args[0]), divisor), d / divisor);
        }
        return std::nullopt;
    }

    Sum quotient(const Sum& n, int64_t divisor)
    {
        if (divisor == 1) return n;
        auto [whole, rest] = divided(n, divisor);
        if (rest.terms.empty()) return whole;
        const auto range = m_bounds.of(rest);
        if (range && floorDivide(range->min, divisor) == floorDivide(range->max, divisor))
            return added(whole, Sum::ofConstant(floorDivide(range->min, divisor)));
        if (const int64_t g = droppable(rest, divisor))
            return added(whole, quotient(divided(rest, g).quotient, divisor / g));
        if (const auto outer = ofNestedQuotient(rest, divisor)) return added(whole, *outer);
        return added(whole, Sum::ofAtom(floorDiv(toExpr(rest), Expr(divisor))));
    }

    Sum remainder(const Sum& n, int64_t divisor)
    {
        if (divisor == 1) return {};
        const Sum rest = divided(n, divisor).rest;
        if (rest.terms.empty()) return rest;
        const auto range = m_bounds.of(rest);
        if (range && floorDivide(range->min, divisor) == floorDivide(range->max, divisor))
            return added(rest, Sum::ofConstant(-divisor * floorDivide(range->min, divisor)));
        if (const int64_t g = droppable(rest, divisor)) {
            const auto [multiple, small] = divided(rest, g);
            return added(scaled(remainder(multiple, divisor / g), g), small);
        }
        for (const Term& term : rest.terms) {
            const Expr& atom = term.atom;
            if (atom->kind != ExprKind::FloorMod || atom->args[1]->kind != ExprKind::IntImm ||
                atom->args[1]->integer % divisor != 0)
                continue;
            Sum without = added(rest, Sum::ofAtom(atom), -term.coefficient);
            without = added(without, asWritten(atom->args[0]), term.coefficient);
            if (without.isExact) return remainder(without, divisor);
        }
        return Sum::ofAtom(floorMod(toExpr(rest), Expr(divisor)));
    }

    /// k * (x mod c) + k * c * (x div c) = k * x, for every such pair of terms.
    Sum joined(Sum sum)
    {
        for (size_t i = 0; i < sum.terms.size() && sum.isExact; ++i) {
            const Term term = sum.terms[i];
            if (term.atom->kind != ExprKind::FloorMod ||
                term.atom->args[1]->kind != ExprKind::IntImm)
                continue;
            const Expr& x = term.atom->args[0];
            const int64_t c = term.atom->args[1]->integer;
            int64_t wanted = 0;
            if (c <= 0 || __builtin_mul_overflow(c, term.coefficient, &wanted)) continue;
            const Sum div = quotient(asWritten(x), c);
            if (div.terms.size() != 1 || div.terms[0].coefficient != 1) continue;
            for (const Term& other : sum.terms) {
                if (other.coefficient != wanted || !isSameQuotient(other.atom, div.terms[0].atom))
                    continue;
                const Sum both = added(scaled(Sum::ofAtom(term.atom), term.coefficient),
                                       Sum::ofAtom(other.atom), wanted);
                return joined(added(added(sum, both, -1), asWritten(x), term.coefficient));
            }
        }
        return sum;
    }

    Sum extremum(const Expr& e)
    {
        const Sum a = sum(e->args[0]);
        const Sum b = sum(e->args[1]);
        const bool isMin = e->kind == ExprKind::Min;
        if (mayWrap(a) || mayWrap(b)) return Sum::ofAtom(binary(e->kind, toExpr(a), toExpr(b)));
        const auto range = m_bounds.of(added(a, b, -1));
        if (range && range->max <= 0) return isMin ? a : b;
        if (range && range->min >= 0) return isMin ? b : a;
        return Sum::ofAtom(binary(e->kind, toExpr(a), toExpr(b)));
    }

    /// The sum that is negative exactly when the order comparison holds.
    Sum negativeForm(const Expr& e)
    {
        const Sum a = sum(e->args[0]);
        const Sum b = sum(e->args[1]);
        switch (e->kind) {
        case ExprKind::Less: return added(a, b, -1);
        case ExprKind::LessEqual: return added(added(a, b, -1), Sum::ofConstant(-1));
        case ExprKind::Greater: return added(b, a, -1);
        default: return added(added(b, a, -1), Sum::ofConstant(-1));
        }
    }

    Expr comparison(const Expr& e)
    {
        const bool isOrder = e->kind >= ExprKind::Less;
        if (mayWrap(sum(e->args[0])) || mayWrap(sum(e->args[1]))) return rebuilt(e);
        Sum left = isOrder ? negativeForm(e) : added(sum(e->args[0]), sum(e->args[1]), -1);
        left = joined(left);
        const auto range = m_bounds.of(left);
        if (!left.isExact) return rebuilt(e);
        if (!isOrder) return equality(e->kind, left, range);
        if (range && range->max < 0) return intImm(1, kBool);
        if (range && range->min >= 0) return intImm(0, kBool);
        // floor(left / g) has the sign of left; g may swallow terms too small to matter.
        while (const int64_t g = swallowing(left)) left = divided(left, g).quotient;
        return sides(left, [](const Expr& a, const Expr& b) { return a < b; });
    }

    int64_t swallowing(const Sum& sum)
    {
        if (const int64_t g = gcdOf(sum); g > 1) return g;
        for (const Term& term : sum.terms) {
            const int64_t g = std::abs(term.coefficient);
            if (g > 1 && isWithin(divided(sum, g).rest, g)) return g;
        }
        return 0;
    }

    Expr equality(ExprKind kind, Sum left, const std::optional<IntRange>& range)
    {
        const int64_t g = gcdOf(left);
        const bool isApart =
            (range && (range->min > 0 || range->max < 0)) || (g > 1 && left.constant % g != 0);
        if (isApart) return intImm(kind == ExprKind::NotEqual, kBool);
        if (left.isConst()) return intImm((left.constant == 0) == (kind == ExprKind::Equal), kBool);
        if (g > 1) left = divided(left, g).quotient;
        return sides(left, [&](const Expr& a, const Expr& b) { return binary(kind, a, b); });
    }

    /// Positive terms to the left, negative terms and the constant to the right.
    static Expr sides(const Sum& sum, const std::function<Expr(const Expr&, const Expr&)>& compare)
    {
        Sum left, right;
        for (const Term& term : sum.terms)
            if (term.coefficient > 0)
                left.terms.push_back(term);
            else
                right.terms.push_back({term.atom, -term.coefficient});
        (left.terms.empty() ? left.constant : right.constant) =
            left.terms.empty() ? sum.constant : -sum.constant;
        return compare(toExpr(left), toExpr(right));
    }

    const Ranges& m_ranges;
    Bounds m_bounds;
    std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> m_known;
};

} // namespace

Expr simplify(const Expr& expr, const Ranges& ranges)
{
    return expr.get() ? Simplifier(ranges).expr(expr) : expr;
}

} // namespace tenon::tir
