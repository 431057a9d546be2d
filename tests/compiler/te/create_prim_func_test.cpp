// SPDX-License-Identifier: Apache-2.0
// From declarations to blocks: names, order, kinds, and the odd outputs.
#include "compiler/evaluate/interpreter.h"
#include "compiler/te/te.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"

#include <gtest/gtest.h>

namespace tenon::te {
namespace {

using Exprs = std::vector<Expr>;

std::vector<std::string> blocksOf(const tir::PrimFunc& function)
{
    std::vector<std::string> names;
    tir::visitStmts(function.body, [&](const Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Block) names.push_back(stmt->block.name);
        return true;
    });
    return names;
}

tir::PrimFunc created(const Tensors& in, const Tensors& out)
{
    const auto function = createPrimFunc("main", in, out);
    CHECK(function) << function.error().text();
    const auto ok = tir::verify(*function);
    CHECK(ok) << ok.error().text() << tir::print(*function);
    return *function;
}

TensorRef doubled(const TensorRef& x, const std::string& tag = {})
{
    return compute(
        "double", x->shape(), [&](const Exprs& i) { return at(x, i) + at(x, i); }, tag);
}

TEST(CreatePrimFunc, MakesNamesUniqueAndKeepsDependencyOrder)
{
    const TensorRef x = placeholder("x", {8}, kFloat32);
    const TensorRef y = doubled(x);
    const auto f = created({x}, {doubled(y)});
    EXPECT_EQ(blocksOf(f), (std::vector<std::string>{"root", "double", "double_1"}));
    ASSERT_EQ(f.body->block.allocs.size(), 1u);
    EXPECT_EQ(f.body->block.allocs[0]->name, "double");
    EXPECT_EQ(f.params[1]->name, "double_1");
}

TEST(CreatePrimFunc, TakesTheKindOfTheLastDecidingTag)
{
    const TensorRef x = placeholder("x", {8, 4}, kFloat32);
    const TensorRef sum = reduce("sum", {8}, {4}, Combiner::Sum,
                                 [&](const Exprs& i, const Exprs& k) {
                                     return at(x, {i[0], k[0]});
                                 },
                                 "reduce", {{"axis", std::vector<int64_t>{1}}});
    const auto f = created({x}, {doubled(sum, "elemwise")});
    EXPECT_EQ(f.attrs.string("kind", ""), "reduce");
    EXPECT_EQ(f.attrs.string("anchor", ""), "sum");
    EXPECT_EQ(created({x}, {doubled(x, "elemwise")}).attrs.string("kind", ""), "injective");
}

TEST(CreatePrimFunc, NamesAxesAsAsked)
{
    const TensorRef x = placeholder("x", {8, 4}, kFloat32);
    const TensorRef sum =
        reduce("sum", {8}, {4}, Combiner::Sum,
               [&](const Exprs& i, const Exprs& k) {
                   return at(x, {i[0], k[0]});
               },
               "reduce", {{"axis_names", std::vector<std::string>{"row", "column"}}});
    EXPECT_FALSE(sum->attrs.has("axis_names"));
    EXPECT_EQ(sum->axes[0]->name, "row");
    EXPECT_EQ(sum->reduce[0].var->name, "column");
}

TEST(CreatePrimFunc, CopiesAnInputThatIsAnOutput)
{
    const TensorRef x = placeholder("x", {3}, kFloat32);
    const auto f = created({x}, {x, x});
    EXPECT_EQ(f.outputCount, 2u);
    const auto got = compiler::interpret(f, {Tensor::of<float>(kFloat32, {3}, {1, 2, 3})});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[1].numbers(), (std::vector<double>{1, 2, 3}));
}

TEST(CreatePrimFunc, RefusesTensorsThatAreNoInput)
{
    const TensorRef x = placeholder("x", {3}, kFloat32);
    const auto f = createPrimFunc("main", {}, {doubled(x)});
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().code, DiagnosticCode::InvalidIr);
}

TEST(CreatePrimFunc, StartsReductionsFromAGivenValue)
{
    const TensorRef x = placeholder("x", {4}, kFloat32);
    const TensorRef least = reduce(
        "least", {}, {4}, Combiner::Min,
        [&](const Exprs&, const Exprs& k) { return at(x, {k[0]}); }, "reduce", {},
        tir::floatImm(2));
    const auto got = compiler::interpret(created({x}, {least}),
                                         {Tensor::of<float>(kFloat32, {4}, {5, 3, 4, 9})});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].number(0), 2);
}

/// Splits a vector into its even and odd elements by a While.
Tensors evenOdd(const TensorRef& x)
{
    return external("even_odd", {x}, {{{2}, kFloat32}, {{2}, kFloat32}},
                    [](const std::vector<Buffer>& in, const std::vector<Buffer>& out) {
                        const Buffer n = tir::makeBuffer("n", {1}, kInt64);
                        const Expr at = tir::load(n, {Expr(0)});
                        const Stmt step =
                            tir::seq({tir::store(out[0], {at}, tir::load(in[0], {at * 2})),
                                      tir::store(out[1], {at}, tir::load(in[0], {at * 2 + 1})),
                                      tir::store(n, {0}, at + 1)});
                        return tir::allocate(
                            n, tir::seq({tir::store(n, {0}, 0), tir::whileLoop(at < 2, step)}));
                    });
}

TEST(CreatePrimFunc, RunsExternalsWithSeveralOutputs)
{
    const TensorRef x = placeholder("x", {4}, kFloat32);
    const Tensors parts = evenOdd(x);
    const Tensor input = Tensor::of<float>(kFloat32, {4}, {1, 2, 3, 4});
    const auto both = compiler::interpret(created({x}, parts), {input});
    ASSERT_TRUE(both) << both.error().text();
    EXPECT_EQ((*both)[0].numbers(), (std::vector<double>{1, 3}));
    EXPECT_EQ((*both)[1].numbers(), (std::vector<double>{2, 4}));

    const auto second = compiler::interpret(created({x}, {doubled(parts[1])}), {input});
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_EQ((*second)[0].numbers(), (std::vector<double>{4, 8}));
    const auto first = compiler::interpret(created({x}, {parts[0]}), {input});
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_EQ((*first)[0].numbers(), (std::vector<double>{1, 3}));
}

TEST(CreatePrimFunc, TakesSizesFromSymbolicShapes)
{
    const Var n = tir::makeVar("n");
    const TensorRef x = placeholder("x", {n, 2}, kFloat32);
    const auto f = created({x}, {doubled(x)});
    ASSERT_EQ(f.sizes.size(), 1u);
    EXPECT_EQ(f.sizes[0].get(), n.get());
}

} // namespace
} // namespace tenon::te
