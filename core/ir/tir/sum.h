// SPDX-License-Identifier: Apache-2.0
// Sum: the canonical linear form of an index expression, and its bounds; inner part of simplify.
#pragma once

#include "core/ir/tir/simplify.h"

#include <vector>

namespace tenon::tir {

/// coefficient * atom; an atom is any int64 scalar expression that is no sum.
struct Term
{
    Expr atom;
    int64_t coefficient;
};

/// Terms with distinct atoms and non-zero coefficients, in order of appearance.
struct Sum
{
    std::vector<Term> terms;
    int64_t constant = 0;
    bool isExact = true; ///< false: a coefficient left 64 bits, the value is worthless

    static Sum ofAtom(Expr atom) { return {{{std::move(atom), 1}}, 0, true}; }
    static Sum ofConstant(int64_t value) { return {{}, value, true}; }
    bool isConst() const { return isExact && terms.empty(); }
};

inline bool isIndex(const Expr& expr) { return expr->dtype == kInt64; }
inline bool isComparison(ExprKind kind)
{
    return kind >= ExprKind::Equal && kind <= ExprKind::GreaterEqual;
}
inline bool isArithmetic(ExprKind kind) { return kind >= ExprKind::Add && kind <= ExprKind::Max; }

/// Equality without renaming: cheap, for index expressions.
bool sameExpr(const Expr& a, const Expr& b);

Sum scaled(Sum sum, int64_t factor);
Sum added(Sum a, const Sum& b, int64_t factorOfB = 1);
/// Positive terms first, the constant last.
Expr toExpr(const Sum& sum);
/// The expression as written, sums and products by constants expanded and nothing else done.
Sum asWritten(const Expr& expr);

int64_t floorDivide(int64_t a, int64_t b);
/// sum = divisor * quotient + rest, term by term; the rest's constant is in [0, divisor).
struct Division
{
    Sum quotient;
    Sum rest;
};
Division divided(const Sum& sum, int64_t divisor);

/// Tightens the range of a variable by `sum < 0` when the sum has that one variable only.
bool refineByNegative(const Sum& sum, Ranges& ranges);

// Vector index arithmetic as scalar arithmetic over a lane number.
Expr asScalar(const Expr& vector, const Expr& lane); ///< null when it is none
bool mentions(const Expr& expr, const VarNode* var);
Expr rampOf(const Sum& sum, const Var& lane, int lanes); ///< null when not linear in the lane

/// Bounds under ranges, remembered per node.
class Bounds
{
public:
    explicit Bounds(const Ranges& ranges)
        : m_ranges(ranges)
    {
    }
    std::optional<IntRange> of(const Expr& expr);
    std::optional<IntRange> of(const Sum& sum);

private:
    std::optional<IntRange> compute(const ExprNode& expr, const Expr& handle);
    std::optional<IntRange> ofQuotient(const Expr& a, const Expr& b, bool isRemainder);

    const Ranges& m_ranges;
    std::unordered_map<const ExprNode*, std::pair<Expr, std::optional<IntRange>>> m_known;
};

} // namespace tenon::tir
