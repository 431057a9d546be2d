// SPDX-License-Identifier: Apache-2.0
// Random index expressions keep their value under simplification for every value in range.
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tenon::tir {
namespace {

using Values = std::map<const VarNode*, int64_t>;

int64_t floorQuotient(int64_t a, int64_t b)
{
    int64_t q = a / b;
    if (q * b > a) --q;
    return q;
}

int64_t valueOf(const Expr& e, const Values& values)
{
    const auto arg = [&](size_t i) { return valueOf(e->args[i], values); };
    switch (e->kind) {
    case ExprKind::IntImm: return e->integer;
    case ExprKind::VarRef: return values.at(e->var.get());
    case ExprKind::Add: return arg(0) + arg(1);
    case ExprKind::Sub: return arg(0) - arg(1);
    case ExprKind::Mul: return arg(0) * arg(1);
    case ExprKind::Div: return arg(0) / arg(1);
    case ExprKind::Mod: return arg(0) % arg(1);
    case ExprKind::FloorDiv: return floorQuotient(arg(0), arg(1));
    case ExprKind::FloorMod: return arg(0) - arg(1) * floorQuotient(arg(0), arg(1));
    case ExprKind::Min: return std::min(arg(0), arg(1));
    case ExprKind::Max: return std::max(arg(0), arg(1));
    case ExprKind::Equal: return arg(0) == arg(1);
    case ExprKind::NotEqual: return arg(0) != arg(1);
    case ExprKind::Less: return arg(0) < arg(1);
    case ExprKind::LessEqual: return arg(0) <= arg(1);
    case ExprKind::Greater: return arg(0) > arg(1);
    case ExprKind::GreaterEqual: return arg(0) >= arg(1);
    case ExprKind::And: return arg(0) && arg(1);
    case ExprKind::Or: return arg(0) || arg(1);
    case ExprKind::Not: return !arg(0);
    case ExprKind::Select: return arg(0) ? arg(1) : arg(2);
    case ExprKind::Intrinsic: return arg(0) ? arg(1) : arg(2); // only IfThenElse is generated
    default: ADD_FAILURE() << "unexpected node"; return 0;
    }
}

class Generator
{
public:
    Generator(unsigned seed, std::vector<Var> vars)
        : m_random(seed)
        , m_vars(std::move(vars))
    {
    }

    int64_t below(int64_t n) { return static_cast<int64_t>(m_random() % static_cast<uint64_t>(n)); }

    Expr index(int depth)
    {
        if (depth == 0)
            return below(4) == 0 ? Expr(below(20) - 6)
                                 : Expr(m_vars[static_cast<size_t>(below(3))]);
        const Expr a = index(depth - 1);
        switch (below(9)) {
        case 0: return a + index(depth - 1);
        case 1: return a - index(depth - 1);
        case 2:
        case 3: return a * Expr(int64_t{1} << below(5)) + index(depth - 1);
        case 4: return floorDiv(a, Expr(divisor()));
        case 5: return floorMod(a, Expr(divisor()));
        case 6: return minimum(a, index(depth - 1));
        case 7: return maximum(a, index(depth - 1));
        default: {
            const Expr condition = logic(depth - 1);
            const Expr other = index(depth - 1);
            return below(2) ? select(condition, a, other)
                            : call(Intrinsic::IfThenElse, kInt64, {condition, a, other});
        }
        }
    }

    Expr logic(int depth)
    {
        const Expr a = index(depth), b = index(depth);
        switch (below(8)) {
        case 0: return a < b;
        case 1: return a <= b;
        case 2: return a > b;
        case 3: return a >= b;
        case 4: return equal(a, b);
        case 5: return notEqual(a, b);
        case 6: return (a < b) && (a > index(depth));
        default: return (a < b) || !(a > index(depth));
        }
    }

private:
    int64_t divisor() { return below(3) == 0 ? 1 + below(7) : int64_t{1} << (1 + below(5)); }

    std::mt19937_64 m_random;
    std::vector<Var> m_vars;
};

struct Case
{
    std::vector<Var> vars{makeVar("x"), makeVar("y"), makeVar("z")};
    Ranges ranges{{vars[0].get(), {0, 7}}, {vars[1].get(), {-3, 4}}, {vars[2].get(), {0, 15}}};

    template <class Visit>
    void each(Visit visit) const
    {
        for (int64_t x = 0; x <= 7; ++x)
            for (int64_t y = -3; y <= 4; ++y)
                for (int64_t z = 0; z <= 15; ++z)
                    visit(Values{{vars[0].get(), x}, {vars[1].get(), y}, {vars[2].get(), z}});
    }
};

void expectSameValues(const Case& c, const Expr& before, const Expr& after)
{
    int wrong = 0;
    c.each(
        [&](const Values& values) { wrong += valueOf(before, values) != valueOf(after, values); });
    EXPECT_EQ(wrong, 0) << print(before) << "\nbecame " << print(after);
}

TEST(SimplifyRandom, IndexExpressionsKeepTheirValue)
{
    const Case c;
    Generator generator(1, c.vars);
    for (int i = 0; i < 1500 && !HasFailure(); ++i) {
        const Expr e = generator.index(1 + i % 5);
        const Expr s = simplify(e, c.ranges);
        expectSameValues(c, e, s);
        expectSameValues(c, e, simplify(s, c.ranges));
    }
}

TEST(SimplifyRandom, ConditionsKeepTheirValue)
{
    const Case c;
    Generator generator(2, c.vars);
    for (int i = 0; i < 1500 && !HasFailure(); ++i) {
        const Expr e = generator.logic(i % 4);
        expectSameValues(c, e, simplify(e, c.ranges));
    }
}

TEST(SimplifyRandom, BoundsHoldEveryValue)
{
    const Case c;
    Generator generator(3, c.vars);
    for (int i = 0; i < 1000 && !HasFailure(); ++i) {
        const Expr e = generator.index(1 + i % 4);
        const auto bounds = boundsOf(e, c.ranges);
        ASSERT_TRUE(bounds) << print(e);
        c.each([&](const Values& values) {
            const int64_t value = valueOf(e, values);
            EXPECT_TRUE(value >= bounds->min && value <= bounds->max) << print(e);
        });
    }
}

TEST(SimplifyRandom, UnknownRangesAreNotGuessed)
{
    const Case c;
    Generator generator(4, c.vars);
    for (int i = 0; i < 800 && !HasFailure(); ++i) {
        const Expr e = generator.index(1 + i % 4);
        expectSameValues(c, e, simplify(e));
    }
}

/// Lane `lane` of a vector index expression as a scalar expression.
Expr lane(const Expr& e, int number)
{
    if (e->kind == ExprKind::Ramp) return e->args[0] + e->args[1] * Expr(number);
    if (e->kind == ExprKind::Broadcast) return e->args[0];
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(arg->dtype.lanes > 1 ? lane(arg, number) : arg);
    return e->kind == ExprKind::Select ? select(args[0], args[1], args[2])
                                       : binary(e->kind, args[0], args[1]);
}

TEST(SimplifyRandom, VectorsKeepTheValueOfEachLane)
{
    const Case c;
    Generator generator(5, c.vars);
    for (int i = 0; i < 400 && !HasFailure(); ++i) {
        // A ramp in place of one variable turns the whole tree into a vector.
        const Expr scalar = i % 2 ? generator.index(i % 4) : generator.logic(i % 3);
        bool hasIntrinsic = false;
        visitExprs(scalar, [&](const Expr& e) {
            hasIntrinsic = hasIntrinsic || e->kind == ExprKind::Intrinsic ||
                           e->kind == ExprKind::Select || e->kind == ExprKind::Not;
            return true;
        });
        const Expr e = substitute(scalar, {{c.vars[0].get(), ramp(Expr(c.vars[0]) * 4, 1, 4)}});
        if (hasIntrinsic || e->dtype.lanes == 1) continue;
        const Expr s = simplify(e, c.ranges);
        ASSERT_EQ(s->dtype, e->dtype) << print(e);
        for (int number = 0; number < 4; ++number)
            expectSameValues(c, lane(e, number), lane(s, number));
    }
}

} // namespace
} // namespace tenon::tir
