// SPDX-License-Identifier: Apache-2.0
// The index patterns that splitting, fusing and layouts leave behind come out as one would write
// them.
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <gtest/gtest.h>

namespace tenon::tir {
namespace {

class Simplify : public ::testing::Test
{
protected:
    Var x = makeVar("x"), y = makeVar("y"), n = makeVar("n");
    Ranges ranges{{x.get(), {0, 13}}, {y.get(), {0, 15}}};

    void expect(const Expr& before, const Expr& wanted)
    {
        const Expr after = simplify(before, ranges);
        EXPECT_TRUE(structuralEqual(after, wanted))
            << print(before) << "\ngave   " << print(after) << "\nwanted " << print(wanted);
    }
};

TEST_F(Simplify, SplitsAndJoinsIndices)
{
    expect(floorDiv(Expr(x) * 16 + y, 16), x);
    expect(floorMod(Expr(x) * 16 + y, 16), y);
    expect(floorDiv(Expr(x) * 16 + y, 32), floorDiv(x, 2));
    expect(floorMod(Expr(x) * 16 + y, 32), floorMod(x, 2) * 16 + y);
    expect(floorDiv(x, 4) * 4 + floorMod(x, 4), x);
    expect(floorDiv(x, 8) * 8 + floorMod(floorDiv(x, 4), 2) * 4 + floorMod(x, 4), x);
    expect(floorDiv(floorDiv(n, 4), 2), floorDiv(n, 8));
    expect(floorMod(floorMod(n, 8), 4), floorMod(n, 4));
    expect(floorDiv(Expr(n) * 4 + 5, 4), Expr(n) + 1);
}

TEST_F(Simplify, JoinsWhatVectorsOfFusedLoopsCross)
{
    // Sixteen of 14 x 14 elements: a vector may hold the end of one row and the start of the next.
    const Var f = makeVar("f"), lane = makeVar("lane");
    ranges[lane.get()] = {0, 15};
    const Expr at = Expr(f) * 16 + lane;
    expect((floorDiv(at, 196) * 14 + floorMod(floorDiv(at, 14), 14)) * 14 + floorMod(at, 14), at);
    expect(floorDiv(Expr(n) + floorDiv(y, 3), 5), floorDiv(Expr(y) + Expr(n) * 3, 15));
    // The same in blocks of four: four of 14 x 14 blocks.
    const Expr row = floorMod(floorDiv(at, 56), 14), column = floorMod(floorDiv(at, 4), 14);
    expect(((floorDiv(at, 784) * 14 + row) * 14 + column) * 4 + floorMod(at, 4), at);
    // A quotient by another number stays.
    expect(floorDiv(at, 60) * 56 + floorMod(floorDiv(at, 4), 14) * 4 - floorDiv(at, 60) * 56,
           floorMod(Expr(f) * 4 + floorDiv(lane, 4), 14) * 4);
}

TEST_F(Simplify, CancelsAndCollects)
{
    expect((Expr(x) + y) - x, y);
    expect(Expr(x) * 3 + Expr(x) * 5 - 2, Expr(x) * 8 - 2);
    expect((Expr(x) + 3) * 2 - Expr(x) * 2, 6);
}

TEST_F(Simplify, DecidesComparisonsByRanges)
{
    expect(Expr(x) * 16 + y < 224, intImm(1, kBool));
    expect(Expr(x) + 1 > 20, intImm(0, kBool));
    expect(Expr(x) * 16 + y < 96, Expr(x) < 6);
    expect(equal(Expr(x) * 2, Expr(n) * 4 + 1), intImm(0, kBool));
    expect(equal(Expr(x) + n, Expr(n) + 20), intImm(0, kBool));
    expect(minimum(x, 13), x);
    expect(maximum(Expr(n) + 1, n), Expr(n) + 1);
}

// 2^63 - 1 + 1 < 0 in 64 bits: what is true of indices is not of data.
TEST_F(Simplify, KnowsThatSumsOfDataWrapAround)
{
    const Buffer data = makeBuffer("data", {Expr(16)}, kInt64, Scope::Global);
    const Expr a = load(data, {x}), b = load(data, {y});
    for (const Expr& same :
         {a - b<0, floorDiv(a * 4, 4), floorMod(a * 1000 + 1, 10), maximum(a + 1, a),
                floorDiv(a + b, 2), equal(a * 2, b * 2), a + 1>
                  a})
        expect(same, same);
    expect((a + b) - a, b);
    expect(floorMod(floorMod(a, 8) + x * 8, 8), floorMod(a, 8));
    expect(floorMod(a, 8) < 8, intImm(1, kBool));
}

TEST_F(Simplify, LeavesUndecidedThingsAlone)
{
    const Expr open = Expr(x) < n;
    EXPECT_EQ(simplify(open, ranges).get(), open.get());
    const Expr division = floorDiv(x, n);
    EXPECT_EQ(simplify(division, ranges).get(), division.get());
    const Expr sum = floatImm(1) + floatImm(2); // float arithmetic is not ours to reorder
    EXPECT_EQ(simplify(sum, ranges).get(), sum.get());
}

TEST_F(Simplify, UsesGuardsInsideIfThenElseButNotInsideSelect)
{
    const Buffer a = makeBuffer("a", {64}, kFloat32);
    const Expr guard = Expr(y) < 4;
    const Expr inner = load(a, {floorMod(y, 4)});
    expect(call(Intrinsic::IfThenElse, kFloat32, {guard, inner, floatImm(0)}),
           call(Intrinsic::IfThenElse, kFloat32, {guard, load(a, {y}), floatImm(0)}));
    expect(select(guard, inner, floatImm(0)), select(guard, inner, floatImm(0)));
}

TEST_F(Simplify, KeepsVectorsLinear)
{
    expect(floorDiv(broadcast(Expr(x) * 16, 16) + ramp(0, 1, 16), broadcast(16, 16)),
           broadcast(x, 16));
    expect(floorMod(broadcast(Expr(x) * 16, 16) + ramp(0, 1, 16), broadcast(16, 16)),
           ramp(0, 1, 16));
}

TEST_F(Simplify, DropsDeadCodeAndLoopsOfOne)
{
    const Buffer a = makeBuffer("a", {64}, kFloat32);
    const Var i = makeVar("i"), j = makeVar("j");
    const Stmt write = store(a, {Expr(i) + j}, floatImm(0));
    const Stmt nest = forLoop(
        {.var = i, .extent = 8},
        forLoop({.var = j, .extent = 1}, ifThen(Expr(i) < 8, write, store(a, {0}, floatImm(1)))));
    const Stmt after = simplify(nest);
    ASSERT_EQ(after->kind, StmtKind::For);
    ASSERT_EQ(after->body->kind, StmtKind::Store);
    EXPECT_TRUE(structuralEqual(after->body->indices[0], Expr(i)));

    const Stmt dead = forLoop({.var = i, .extent = 8}, ifThen(Expr(i) > 8, write));
    EXPECT_EQ(simplify(dead)->kind, StmtKind::Seq);
    EXPECT_TRUE(simplify(dead)->stmts.empty());
}

TEST_F(Simplify, ReadsLinearForms)
{
    const auto form = linearForm((Expr(x) + 2) * 3 - y);
    ASSERT_TRUE(form);
    EXPECT_EQ(form->constant, 6);
    EXPECT_EQ(form->coefficients.at(x.get()), 3);
    EXPECT_EQ(form->coefficients.at(y.get()), -1);
    EXPECT_FALSE(linearForm(floorDiv(x, 2)));
    EXPECT_FALSE(linearForm(Expr(x) * y));
}

} // namespace
} // namespace tenon::tir
