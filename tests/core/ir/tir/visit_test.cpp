// SPDX-License-Identifier: Apache-2.0
// Walks, rewrites, substitution and structural equality of loop-IR trees.
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <gtest/gtest.h>

namespace tenon::tir {
namespace {

struct Copy
{
    Buffer from = makeBuffer("from", {8}, kFloat32);
    Buffer to = makeBuffer("to", {8}, kFloat32);
    Var i = makeVar("i");
    Stmt write = store(to, {i}, load(from, {Expr(i)}));
    PrimFunc function{
        .name = "copy", .params = {from, to}, .body = forLoop({.var = i, .extent = 8}, write)};
};

TEST(Visit, SeesEveryExpressionOnce)
{
    const Copy copy;
    int loads = 0, variables = 0;
    visitExprsIn(copy.function.body, [&](const Expr& e) {
        loads += e->kind == ExprKind::Load;
        variables += e->kind == ExprKind::VarRef;
        return true;
    });
    EXPECT_EQ(loads, 1);
    EXPECT_EQ(variables, 2);
}

TEST(Visit, RewritingNothingKeepsIdentity)
{
    const Copy copy;
    const Stmt same = rewriteStmt(
        copy.function.body, [](const Stmt& s) { return s; }, [](const Expr& e) { return e; });
    EXPECT_EQ(same, copy.function.body);
}

TEST(Visit, SubstitutesVariablesAndBuffersAndFolds)
{
    const Copy copy;
    const Buffer other = makeBuffer("other", {8}, kFloat32);
    const Stmt after = substitute(copy.write, {{copy.i.get(), Expr(3)}}, {{copy.to.get(), other}});
    EXPECT_EQ(after->buffer, other);
    EXPECT_TRUE(after->indices[0].isConstInt(3));
    EXPECT_TRUE(after->value->args[0].isConstInt(3));
    EXPECT_TRUE(substitute(Expr(copy.i) * 2 + 1, {{copy.i.get(), Expr(3)}}).isConstInt(7));
}

TEST(Visit, WidensWhenARampReplacesAScalar)
{
    const Copy copy;
    const Stmt after = substitute(copy.write, {{copy.i.get(), ramp(0, 1, 4)}});
    EXPECT_EQ(after->value->dtype, kFloat32.withLanes(4));
}

TEST(Visit, ReplacesExactlyOneStatement)
{
    const Copy copy;
    const Stmt other = store(copy.to, {copy.i}, floatImm(1));
    const Stmt after = replaceStmt(copy.function.body, copy.write.get(), other);
    EXPECT_EQ(after->body, other);
    EXPECT_EQ(copy.function.body->body, copy.write);
}

TEST(Visit, EqualityIgnoresNamesAndSeesStructure)
{
    const Copy a, b;
    EXPECT_TRUE(structuralEqual(a.function, b.function));

    PrimFunc swapped = b.function;
    std::swap(swapped.params[0], swapped.params[1]);
    EXPECT_FALSE(structuralEqual(a.function, swapped));

    PrimFunc longer = b.function;
    longer.body = forLoop({.var = b.i, .extent = 9}, b.write);
    EXPECT_FALSE(structuralEqual(a.function, longer));

    PrimFunc parallel = b.function;
    parallel.body = forLoop({.var = b.i, .extent = 8, .kind = LoopKind::Parallel}, b.write);
    EXPECT_FALSE(structuralEqual(a.function, parallel));

    PrimFunc local = b.function;
    local.params[1] = makeBuffer("to", {8}, kFloat32, Scope::Local);
    local.body = substitute(local.body, {}, {{b.to.get(), local.params[1]}});
    EXPECT_FALSE(structuralEqual(a.function, local));

    const Var other = makeVar("i");
    EXPECT_FALSE(structuralEqual(Expr(a.i) + 1, Expr(other) + 1))
        << "free variables are themselves";
}

TEST(Visit, EqualityTellsThreadsAndKindsOfAxesApart)
{
    const Copy copy;
    const auto threaded = [&](const char* tag) {
        PrimFunc function = copy.function;
        function.body = forLoop(
            {.var = copy.i, .extent = 8, .kind = LoopKind::Thread, .threadTag = tag}, copy.write);
        return function;
    };
    EXPECT_TRUE(structuralEqual(threaded("threadIdx.x"), threaded("threadIdx.x")));
    EXPECT_FALSE(structuralEqual(threaded("threadIdx.x"), threaded("blockIdx.x")));

    const auto blocked = [&](IterKind kind) {
        PrimFunc function = copy.function;
        function.body =
            block({.name = "b", .iters = {{copy.i, 8, kind, Expr(0)}}}, nullptr, copy.write);
        return function;
    };
    EXPECT_TRUE(structuralEqual(blocked(IterKind::Reduce), blocked(IterKind::Reduce)));
    EXPECT_FALSE(structuralEqual(blocked(IterKind::Reduce), blocked(IterKind::Spatial)));
}

TEST(Visit, EqualityTellsABoundVariableFromAFreeOne)
{
    const Copy copy;
    const Var other = makeVar("j");
    const Stmt fixed = store(copy.to, {Expr(0)}, load(copy.from, {Expr(other)}));
    PrimFunc freeRead = copy.function, boundRead = copy.function;
    freeRead.body = forLoop({.var = copy.i, .extent = 8}, fixed);
    boundRead.body = forLoop({.var = other, .extent = 8}, fixed);
    EXPECT_FALSE(structuralEqual(freeRead, boundRead));
    EXPECT_FALSE(structuralEqual(boundRead, freeRead));
}

TEST(Visit, VerifyRefusesAVariableThatTwoLoopsBind)
{
    const Copy copy;
    PrimFunc function = copy.function;
    EXPECT_TRUE(verify(function));
    function.body = forLoop({.var = copy.i, .extent = 8}, function.body);
    const Status status = verify(function);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("bound twice"), std::string::npos);
}

} // namespace
} // namespace tenon::tir
