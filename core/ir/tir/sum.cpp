// SPDX-License-Identifier: Apache-2.0
// Arithmetic on canonical sums.
#include "core/ir/tir/sum.h"

namespace tenon::tir {
namespace {

void addTerm(Sum& sum, const Expr& atom, int64_t coefficient)
{
    if (coefficient == 0) return;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
        Term& term = sum.terms[i];
        if (!sameExpr(term.atom, atom)) continue;
        if (__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient))
            sum.isExact = false;
        if (term.coefficient == 0)
            sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
    sum.terms.push_back({atom, coefficient});
}

} // namespace

int64_t floorDivide(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

bool sameExpr(const Expr& a, const Expr& b)
{
    if (a.get() == b.get()) return true;
    if (a->kind != b->kind || a->dtype != b->dtype || a->integer != b->integer ||
        a->var != b->var || a->buffer != b->buffer || a->intrinsic != b->intrinsic ||
        a->args.size() != b->args.size())
        return false;
    if (a->kind == ExprKind::FloatImm) return false; // 0.0 == -0.0 and nan != nan: never merge
    for (size_t i = 0; i < a->args.size(); ++i)
        if (!sameExpr(a->args[i], b->args[i])) return false;
    return true;
}

Sum scaled(Sum sum, int64_t factor)
{
    if (factor == 0) return sum.isExact ? Sum() : sum;
    for (Term& term : sum.terms)
        if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient))
            sum.isExact = false;
    if (__builtin_mul_overflow(sum.constant, factor, &sum.constant)) sum.isExact = false;
    return sum;
}

Sum added(Sum a, const Sum& b, int64_t factorOfB)
{
    a.isExact = a.isExact && b.isExact;
    for (const Term& term : b.terms) {
        int64_t coefficient = 0;
        if (__builtin_mul_overflow(term.coefficient, factorOfB, &coefficient)) a.isExact = false;
        addTerm(a, term.atom, coefficient);
    }
    int64_t constant = 0;
    if (__builtin_mul_overflow(b.constant, factorOfB, &constant) ||
        __builtin_add_overflow(a.constant, constant, &a.constant))
        a.isExact = false;
    return a;
}

Expr toExpr(const Sum& sum)
{
    CHECK(sum.isExact) << "a sum that left 64 bits";
    Expr out;
    const auto term = [](const Expr& atom, int64_t coefficient) {
        return coefficient == 1 ? atom : atom * Expr(coefficient);
    };
    for (const Term& t : sum.terms)
        if (t.coefficient > 0) {
            const Expr next = term(t.atom, t.coefficient);
            out = out.get() ? out + next : next;
        }
    if (out.get() == nullptr && sum.constant > 0) out = Expr(sum.constant);
    const bool isConstantOut = out.get() && sum.constant > 0 && out->kind == ExprKind::IntImm;
    for (const Term& t : sum.terms)
        if (t.coefficient < 0) {
            const bool canNegate = out.get() && t.coefficient != INT64_MIN;
            const Expr next = term(t.atom, canNegate ? -t.coefficient : t.coefficient);
            out = !out.get() ? next : canNegate ? out - next : out + next;
        }
    if (out.get() == nullptr) return Expr(sum.constant);
    if (isConstantOut || sum.constant == 0) return out;
    return sum.constant < 0 && sum.constant != INT64_MIN ? out - Expr(-sum.constant)
                                                         : out + Expr(sum.constant);
}

Sum asWritten(const Expr& expr)
{
    if (expr->dtype != kInt64) return Sum::ofAtom(expr);
    if (expr->kind == ExprKind::IntImm) return Sum::ofConstant(expr->integer);
    Sum out;
    if (expr->kind == ExprKind::Add || expr->kind == ExprKind::Sub) {
        out = added(asWritten(expr->args[0]), asWritten(expr->args[1]),
                    expr->kind == ExprKind::Add ? 1 : -1);
        return out.isExact ? out : Sum::ofAtom(expr);
    }
    if (expr->kind != ExprKind::Mul) return Sum::ofAtom(expr);
    const Sum a = asWritten(expr->args[0]);
    const Sum b = asWritten(expr->args[1]);
    if (!a.isConst() && !b.isConst()) return Sum::ofAtom(expr);
    out = a.isConst() ? scaled(b, a.constant) : scaled(a, b.constant);
    return out.isExact ? out : Sum::ofAtom(expr);
}

Division divided(const Sum& sum, int64_t divisor)
{
    Division out;
    for (const Term& term : sum.terms) {
        const int64_t quotient = term.coefficient / divisor;
        const int64_t rest = term.coefficient % divisor;
        if (quotient != 0) out.quotient.terms.push_back({term.atom, quotient});
        if (rest != 0) out.rest.terms.push_back({term.atom, rest});
    }
    out.quotient.constant = floorDivide(sum.constant, divisor);
    out.rest.constant = sum.constant - out.quotient.constant * divisor;
    return out;
}

std::optional<LinearForm> linearForm(const Expr& expr)
{
    if (expr->dtype != kInt64) return std::nullopt;
    const Sum sum = asWritten(expr);
    LinearForm out;
    out.constant = sum.constant;
    for (const Term& term : sum.terms) {
        if (term.atom->kind != ExprKind::VarRef) return std::nullopt;
        out.coefficients[term.atom->var.get()] = term.coefficient;
    }
    return out;
}

} // namespace tenon::tir
