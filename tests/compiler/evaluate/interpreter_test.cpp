// SPDX-License-Identifier: Apache-2.0
// The oracle on hand-written loop IR: every statement kind, and every way to be wrong.
#include "compiler/evaluate/interpreter.h"
#include "core/ir/tir/expr.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;
using tir::Var;

Tensor floats(const std::vector<float>& values)
{
    return Tensor::of(kFloat32, {static_cast<int64_t>(values.size())}, values);
}

class Interpret : public ::testing::Test
{
protected:
    Buffer in = tir::makeBuffer("in", {4}, kFloat32);
    Buffer out = tir::makeBuffer("out", {4}, kFloat32);
    Var i = tir::makeVar("i");

    Result<std::vector<Tensor>> run(const Stmt& body)
    {
        return interpret({.name = "f", .params = {in, out}, .body = body}, {floats({1, 2, 3, 4})});
    }
    std::vector<double> values(const Stmt& body)
    {
        const auto result = run(body);
        CHECK(result) << result.error().text();
        return (*result)[0].numbers();
    }
    Stmt loop(const Stmt& body, const Expr& extent = 4)
    {
        return tir::forLoop({.var = i, .extent = extent}, body);
    }
};

TEST_F(Interpret, RunsLoopsFromTheirMinimum)
{
    const Stmt body = tir::store(out, {Expr(i) - 2}, tir::load(in, {Expr(i) - 2}) * 10);
    EXPECT_EQ(values(tir::forLoop({.var = i, .min = 2, .extent = 4}, body)),
              (std::vector<double>{10, 20, 30, 40}));
}

TEST_F(Interpret, InitialisesReductionsAtTheirFirstStep)
{
    const Var k = tir::makeVar("k"), vi = tir::makeVar("vi"), vk = tir::makeVar("vk");
    const Stmt sum =
        tir::block({.name = "sum",
                    .iters = {{vi, 4, tir::IterKind::Spatial, Expr(i)},
                              {vk, 4, tir::IterKind::Reduce, Expr(k)}},
                    .predicate = {},
                    .allocs = {},
                    .annotations = {}},
                   tir::store(out, {vi}, tir::floatImm(100)),
                   tir::store(out, {vi}, tir::load(out, {Expr(vi)}) + tir::load(in, {Expr(vk)})));
    EXPECT_EQ(values(loop(tir::forLoop({.var = k, .extent = 4}, sum))),
              (std::vector<double>{110, 110, 110, 110}));
}

TEST_F(Interpret, SkipsWhatThePredicateExcludes)
{
    const Var v = tir::makeVar("v");
    const Stmt body = tir::block({.name = "b",
                                  .iters = {{v, 4, tir::IterKind::Spatial, Expr(i)}},
                                  .predicate = Expr(i) < 4,
                                  .allocs = {},
                                  .annotations = {}},
                                 nullptr, tir::store(out, {v}, tir::load(in, {Expr(v)})));
    EXPECT_EQ(values(loop(body, 8)), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Interpret, FollowsWhileIfLetAndAllocate)
{
    const Buffer count = tir::makeBuffer("count", {1}, kInt64);
    const Var x = tir::makeVar("x", kFloat32);
    const Expr n = tir::load(count, {Expr(0)});
    const Stmt step = tir::seq({tir::let(x, tir::load(in, {n}) + tir::floatImm(0.5),
                                         tir::ifThen(n < 2, tir::store(out, {n}, Expr(x)),
                                                     tir::store(out, {n}, tir::floatImm(-1)))),
                                tir::store(count, {0}, n + 1)});
    const Stmt body =
        tir::allocate(count, tir::seq({tir::store(count, {0}, 0), tir::whileLoop(n < 4, step)}));
    EXPECT_EQ(values(body), (std::vector<double>{1.5, 2.5, -1, -1}));
}

TEST_F(Interpret, StoresVectorsAfterReadingAllLanes)
{
    const Stmt shift = tir::seq(
        {tir::store(out, {tir::ramp(0, 1, 4)}, tir::load(in, {tir::ramp(0, 1, 4)})),
         tir::store(out, {tir::ramp(1, 1, 3)},
                    tir::load(out, {tir::ramp(0, 1, 3)}) * tir::broadcast(tir::floatImm(2), 3))});
    EXPECT_EQ(values(shift), (std::vector<double>{1, 2, 4, 6}));
}

TEST_F(Interpret, EvaluatesOnlyTheChosenSideOfIfThenElse)
{
    const Expr guarded = tir::call(tir::Intrinsic::IfThenElse, kFloat32,
                                   {Expr(i) < 3, tir::load(in, {Expr(i) + 1}), tir::floatImm(0)});
    EXPECT_EQ(values(loop(tir::store(out, {i}, guarded))), (std::vector<double>{2, 3, 4, 0}));
    const Expr both = tir::select(Expr(i) < 3, tir::load(in, {Expr(i) + 1}), tir::floatImm(0));
    EXPECT_FALSE(run(loop(tir::store(out, {i}, both)))) << "select reads both sides";
}

TEST_F(Interpret, RoundsAtEveryStore)
{
    const Stmt body = loop(tir::store(out, {i}, tir::load(in, {Expr(i)}) / 3));
    EXPECT_EQ(values(body)[0], static_cast<double>(1.0f / 3.0f));
}

TEST_F(Interpret, LeavesUnwrittenElementsPoisoned)
{
    const auto got = values(tir::store(out, {0}, tir::floatImm(1)));
    EXPECT_EQ(got[0], 1);
    EXPECT_TRUE(std::isnan(got[3]));
}

TEST_F(Interpret, NamesBufferAndIndexOutOfBounds)
{
    const auto result = run(loop(tir::store(out, {Expr(i) + 1}, tir::floatImm(0))));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, DiagnosticCode::InvalidIr);
    EXPECT_EQ(result.error().message,
              "index 4 of dimension 0 is outside buffer `out` of shape (4)");
}

TEST_F(Interpret, RefusesFreeVariablesZeroDivisorsAndWritesToInputs)
{
    EXPECT_FALSE(run(tir::store(out, {i}, tir::floatImm(0))));
    const Expr zero = Expr(i) - i;
    EXPECT_FALSE(run(loop(tir::store(out, {floorDiv(i, zero)}, tir::floatImm(0)))));
    EXPECT_FALSE(run(tir::store(in, {0}, tir::floatImm(0))));
    EXPECT_FALSE(interpret({.name = "f", .params = {in, out}, .body = tir::seq({})}, {}));
}

TEST_F(Interpret, WrapsNarrowIntegersAndFloorsTowardsMinusInfinity)
{
    const Buffer bytes = tir::makeBuffer("bytes", {4}, kInt8);
    const auto imm = [](int64_t v) { return tir::intImm(v, kInt8); };
    const Stmt body = tir::seq({tir::store(bytes, {0}, imm(127) + imm(1)),
                                tir::store(bytes, {1}, floorDiv(imm(-7), imm(2))),
                                tir::store(bytes, {2}, floorMod(imm(-7), imm(2))),
                                tir::store(bytes, {3}, imm(-7) / imm(2))});
    const auto result = interpret({.name = "f", .params = {bytes}, .body = body}, {});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ((*result)[0].integers(), (std::vector<int64_t>{-128, -4, 1, -3}));
}

TEST_F(Interpret, BindsSymbolicExtentsFromInputs)
{
    const Var n = tir::makeVar("n");
    const Buffer a = tir::makeBuffer("a", {n}, kFloat32), b = tir::makeBuffer("b", {n}, kFloat32);
    const Stmt body = loop(tir::store(b, {i}, tir::load(a, {Expr(i)}) * 2), Expr(n));
    const auto result =
        interpret({.name = "f", .params = {a, b}, .sizes = {n}, .body = body}, {floats({1, 2, 5})});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ((*result)[0].numbers(), (std::vector<double>{2, 4, 10}));
}

} // namespace
} // namespace tenon::compiler
