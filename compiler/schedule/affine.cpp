// SPDX-License-Identifier: Apache-2.0
// Affine decomposition and interval analysis.
#include "compiler/schedule/affine.h"

#include "core/ir/tir/visit.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Ranges;

void addTerm(Affine& affine, const Expr& atom, int64_t coefficient)
{
    for (AffineTerm& term : affine.terms) {
        if (term.atom.get() != atom.get() && !tir::structuralEqual(term.atom, atom)) continue;
        term.coefficient += coefficient;
        return;
    }
    affine.terms.push_back({atom, coefficient});
}

void accumulate(Affine& affine, const Expr& expr, int64_t factor)
{
    switch (expr->kind) {
    case ExprKind::IntImm: affine.constant += factor * expr->integer; return;
    case ExprKind::Add:
        accumulate(affine, expr->args[0], factor);
        accumulate(affine, expr->args[1], factor);
        return;
    case ExprKind::Sub:
        accumulate(affine, expr->args[0], factor);
        accumulate(affine, expr->args[1], -factor);
        return;
    case ExprKind::Mul:
        for (const int side : {0, 1}) {
            const Expr& scale = expr->args[static_cast<size_t>(side)];
            if (scale->kind != ExprKind::IntImm) continue;
            accumulate(affine, expr->args[static_cast<size_t>(1 - side)], factor * scale->integer);
            return;
        }
        break;
    default: break;
    }
    addTerm(affine, expr, factor);
}

Ranges joined(const Ranges& a, const Ranges& b)
{
    Ranges out = a;
    out.insert(b.begin(), b.end());
    return out;
}

/// Largest g such that every term of `affine` is a multiple of g.
int64_t stepOf(const Affine& affine, int64_t with)
{
    int64_t step = with;
    for (const AffineTerm& term : affine.terms) step = std::gcd(step, term.coefficient);
    return step;
}

int64_t remainder(int64_t value, int64_t divisor)
{
    return ((value % divisor) + divisor) % divisor;
}

/// Interval of e // c or e % c, where e covers `inside`.
std::optional<Interval> divided(ExprKind kind, const Interval& inside, int64_t divisor,
                                const Ranges& outer)
{
    const Affine min = affineOf(inside.min);
    const int64_t step = stepOf(min, divisor);
    const int64_t offset = remainder(min.constant, step);
    const bool staysInStep = offset + inside.extent <= step;
    if (kind == ExprKind::FloorMod) {
        if (!staysInStep) return Interval{0, divisor};
        return Interval{tir::simplify(floorMod(inside.min, divisor), outer), inside.extent};
    }
    const Expr first = tir::simplify(floorDiv(inside.min, divisor), outer);
    if (staysInStep) return Interval{first, 1};
    const int64_t phase = step == divisor ? offset : divisor - 1;
    return Interval{first, (phase + inside.extent - 1) / divisor + 1};
}

/// Interval of one non-affine atom that uses inner variables.
std::optional<Interval> atomInterval(const Expr& atom, const Ranges& inner, const Ranges& outer)
{
    const bool divides = atom->kind == ExprKind::FloorDiv || atom->kind == ExprKind::FloorMod;
    if (divides && atom->args[1]->kind == ExprKind::IntImm && atom->args[1]->integer > 0) {
        const auto inside = intervalOf(atom->args[0], inner, outer);
        if (inside) return divided(atom->kind, *inside, atom->args[1]->integer, outer);
    }
    bool onlyInner = true;
    tir::visitExprs(atom, [&](const Expr& expr) {
        if (expr->kind == ExprKind::VarRef)
            onlyInner = onlyInner && inner.contains(expr->var.get());
        if (expr->kind == ExprKind::Load) onlyInner = false;
        return true;
    });
    if (!onlyInner) return std::nullopt;
    const auto bounds = tir::boundsOf(atom, inner);
    if (!bounds) return std::nullopt;
    return Interval{bounds->min, bounds->max - bounds->min + 1};
}

} // namespace

Affine affineOf(const Expr& expr)
{
    Affine affine;
    accumulate(affine, expr, 1);
    std::erase_if(affine.terms, [](const AffineTerm& term) { return term.coefficient == 0; });
    return affine;
}

Expr exprOf(const Affine& affine)
{
    Expr sum = 0;
    for (const AffineTerm& term : affine.terms) sum = sum + term.atom * term.coefficient;
    return sum + affine.constant;
}

std::optional<int64_t> constantDifference(const Expr& a, const Expr& b)
{
    Affine difference;
    accumulate(difference, a, 1);
    accumulate(difference, b, -1);
    for (const AffineTerm& term : difference.terms)
        if (term.coefficient != 0) return std::nullopt;
    return difference.constant;
}

int64_t divisorOfVar(const tir::Expr& expr, tir::ExprKind kind)
{
    const bool isPlain = expr->kind == kind && expr->args[0]->kind == tir::ExprKind::VarRef &&
                         expr->args[1]->kind == tir::ExprKind::IntImm;
    return isPlain ? expr->args[1]->integer : 0;
}

bool usesVar(const Expr& expr, const tir::VarNode* var)
{
    bool found = false;
    tir::visitExprs(expr, [&](const Expr& e) {
        found = found || (e->kind == ExprKind::VarRef && e->var.get() == var);
        return !found;
    });
    return found;
}

bool usesAny(const Expr& expr, const Ranges& vars)
{
    bool found = false;
    tir::visitExprs(expr, [&](const Expr& e) {
        found = found || (e->kind == ExprKind::VarRef && vars.contains(e->var.get()));
        return !found;
    });
    return found;
}

std::optional<Interval> intervalOf(const Expr& index, const Ranges& inner, const Ranges& outer)
{
    const Affine affine = affineOf(tir::simplify(index, joined(inner, outer)));
    Affine min{.terms = {}, .constant = affine.constant};
    Expr opaque = 0;
    int64_t extent = 1;
    for (const AffineTerm& term : affine.terms) {
        if (!usesAny(term.atom, inner)) {
            addTerm(min, term.atom, term.coefficient);
            continue;
        }
        Interval atom;
        if (term.atom->kind == ExprKind::VarRef) {
            const tir::IntRange range = inner.at(term.atom->var.get());
            atom = {range.min, range.max - range.min + 1};
        } else {
            const auto found = atomInterval(term.atom, inner, outer);
            if (!found) return std::nullopt;
            atom = *found;
        }
        const int64_t reach = term.coefficient * (atom.extent - 1);
        extent += std::abs(reach);
        if (reach < 0) min.constant += reach;
        opaque = opaque + atom.min * term.coefficient;
    }
    return Interval{tir::simplify(exprOf(min) + opaque, outer), extent};
}

std::optional<Interval> unionOf(const Interval& a, const Interval& b)
{
    const auto distance = constantDifference(b.min, a.min);
    if (!distance) return std::nullopt;
    const int64_t begin = std::min<int64_t>(0, *distance);
    const int64_t end = std::max(a.extent, *distance + b.extent);
    return Interval{*distance < 0 ? b.min : a.min, end - begin};
}

} // namespace tenon::compiler
