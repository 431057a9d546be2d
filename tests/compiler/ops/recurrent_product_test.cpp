// SPDX-License-Identifier: Apache-2.0
// The product of one step, by rows and in tiles, alone and in shares, from both ends.
#include "compiler/evaluate/interpreter.h"
#include "compiler/ops/recurrent_product.h"
#include "compiler/ops/statements.h"
#include "core/ir/tir/visit.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct Case
{
    int64_t columns;
    int64_t width; ///< of packed tiles; 0: by rows
    int64_t sequences;
    unsigned threads;
    int64_t turn;
    int64_t rows = 5;
    bool hasLaneOperand = false;
};

/// Small whole numbers, whose sums are exact in any order.
Tensor numbers(std::vector<int64_t> shape, int64_t seed)
{
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<float> out;
    for (int64_t i = 0; i < count; ++i)
        out.push_back(static_cast<float>((i * 7 + seed + i / 5) % 11 - 5));
    return Tensor::of(kFloat32, std::move(shape), out);
}

std::vector<int64_t> weightShape(const Case& c)
{
    if (c.width == 0) return {c.rows, c.columns};
    return {c.columns / c.width, c.rows, c.width};
}

float weightAt(const Case& c, const Tensor& weight, int64_t k, int64_t column)
{
    const int64_t at = c.width == 0 ? k * c.columns + column
                                    : (column / c.width * c.rows + k) * c.width + column % c.width;
    return weight.as<float>()[static_cast<size_t>(at)];
}

/// Every thread gains, and nothing stays in a cache.
TargetFacts factsOf(const Case& c)
{
    TargetFacts facts;
    facts.threads = c.threads;
    facts.forkCycles = 0;
    facts.l2Bytes = 1;
    facts.hasLaneOperand = c.hasLaneOperand;
    return facts;
}

tir::PrimFunc productOf(const Case& c, const TargetFacts& facts)
{
    const auto input = [](const char* name, const std::vector<int64_t>& shape) {
        std::vector<tir::Expr> extents(shape.begin(), shape.end());
        return te::placeholder(name, extents, kFloat32);
    };
    const std::vector<tir::Expr> result{tir::Expr(c.sequences), tir::Expr(c.columns)};
    const te::Tensors in{input("weight", weightShape(c)), input("state", {c.sequences, c.rows}),
                         input("start", {c.sequences, c.columns})};
    const te::Tensors out = te::external(
        "product", in, {{result, kFloat32}},
        [&](const std::vector<tir::Buffer>& read, const std::vector<tir::Buffer>& written) {
            const tir::Stmt copy =
                serialLoop("member", tir::Expr(c.sequences), [&](const tir::Expr& member) {
                    return serialLoop("i", tir::Expr(c.columns), [&](const tir::Expr& i) {
                        return tir::store(written[0], {member, i}, tir::load(read[2], {member, i}));
                    });
                });
            const auto state = [&](const tir::Expr& member, const tir::Expr& k) {
                return tir::load(read[1], {member, k});
            };
            const ProductPlan plan{facts, c.sequences, tir::Expr(c.turn)};
            return tir::seq({copy, addProduct(read[0], written[0], state, plan, 0, c.columns)});
        });
    auto function = te::createPrimFunc("main", in, out);
    CHECK(static_cast<bool>(function)) << function.error().message;
    return *std::move(function);
}

void check(const Case& c)
{
    SCOPED_TRACE(std::to_string(c.columns) + " columns, tiles of " + std::to_string(c.width) +
                 ", " + std::to_string(c.sequences) + " sequences, " + std::to_string(c.threads) +
                 " threads, turn " + std::to_string(c.turn) + ", " + std::to_string(c.rows) +
                 " rows");
    const TargetFacts facts = factsOf(c);
    const std::vector<Tensor> in{numbers(weightShape(c), 1), numbers({c.sequences, c.rows}, 2),
                                 numbers({c.sequences, c.columns}, 3)};
    const auto out = interpret(productOf(c, facts), in);
    ASSERT_TRUE(static_cast<bool>(out)) << out.error().message;
    for (int64_t member = 0; member < c.sequences; ++member)
        for (int64_t column = 0; column < c.columns; ++column) {
            const int64_t at = member * c.columns + column;
            float sum = in[2].as<float>()[static_cast<size_t>(at)];
            for (int64_t k = 0; k < c.rows; ++k)
                sum += in[1].as<float>()[static_cast<size_t>(member * c.rows + k)] *
                       weightAt(c, in[0], k, column);
            ASSERT_EQ((*out)[0].as<float>()[static_cast<size_t>(at)], sum) << "column " << column;
        }
}

TEST(RecurrentProduct, AddsEveryColumnOnce)
{
    for (const int64_t columns : {int64_t{6}, int64_t{16}, int64_t{70}, int64_t{300}, int64_t{480}})
        for (const int64_t sequences : {1, 3})
            for (const unsigned threads : {1U, 2U, 3U})
                for (const int64_t turn : {0, 1}) check({columns, 0, sequences, threads, turn});
}

TEST(RecurrentProduct, AddsEveryColumnOfTilesOnce)
{
    for (const int64_t tiles : {1, 4, 5, 7})
        for (const unsigned threads : {1U, 2U, 3U})
            for (const int64_t turn : {0, 1}) check({tiles * 48, 48, 1, threads, turn});
}

/// Loops that take so many steps of the sums in one iteration, or one by one behind them.
int64_t unrolledSteps(const tir::PrimFunc& function, const std::string& loop)
{
    int64_t steps = 0;
    tir::visitStmts(function.body, [&](const tir::Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::For && stmt->loop.var->name == loop)
            steps = stmt->loop.extent->integer;
        return true;
    });
    return steps;
}

/// Rows that are no multiple of four or eight leave steps behind the last whole iteration.
TEST(RecurrentProduct, AddsTheStepsThatAreLeftWhereLanesAreOperands)
{
    struct
    {
        int64_t rows, columns, width, sequences, together, left;
    } const cases[] = {
        {3, 16, 0, 1, 0, 0},  {5, 70, 0, 3, 4, 1},   {8, 32, 0, 1, 8, 0},   {11, 16, 0, 1, 4, 3},
        {16, 64, 0, 1, 4, 0}, {23, 96, 48, 1, 4, 3}, {24, 64, 32, 1, 8, 0}, {6, 300, 0, 1, 4, 2},
    };
    for (const auto& one : cases) {
        const Case c{.columns = one.columns,
                     .width = one.width,
                     .sequences = one.sequences,
                     .threads = 1,
                     .turn = 0,
                     .rows = one.rows,
                     .hasLaneOperand = true};
        check(c);
        const tir::PrimFunc function = productOf(c, factsOf(c));
        EXPECT_EQ(unrolledSteps(function, "step"), one.together) << one.rows << " rows";
        EXPECT_EQ(unrolledSteps(function, "left"), one.left) << one.rows << " rows";
    }
}

TEST(RecurrentProduct, SharesWhatOutgrowsACache)
{
    TargetFacts facts;
    facts.threads = 2;
    const ProductSize small{64, 256, 4, 1}, large{512, 2048, 4, 1};
    EXPECT_EQ(threadsOfProduct(facts, small), 1U);
    EXPECT_EQ(threadsOfProduct(facts, large), 2U);
    // More than twice as fast: a half fits the second-level cache of each core.
    EXPECT_LT(2 * productCycles(facts, {320, 1280, 4, 1}, 2),
              productCycles(facts, {320, 1280, 4, 1}, 1));
}

TEST(RecurrentProduct, PacksTilesOfTwoVectorsWhereThreeDivideNothing)
{
    TargetFacts facts; // 16 registers of 8 floats: 6 vectors of 16 for one sequence, 3 for two
    facts.vectorBytes = 32;
    facts.floatMacs = 16;
    EXPECT_EQ(packedWidth(facts, {128, 512, 4, 1}, 512), 64);
    EXPECT_EQ(packedWidth(facts, {128, 512, 4, 2}, 512), 32);
    EXPECT_EQ(packedWidth(facts, {128, 384, 4, 2}, 384), 48);
}

TEST(RecurrentProduct, TilesAreWholeAndForEveryThread)
{
    TargetFacts facts;
    facts.vectorBytes = 64;
    facts.vectorRegisters = 32;
    EXPECT_EQ(packedWidth(facts, {256, 768, 4, 1}, 768), 128);
    EXPECT_EQ(packedWidth(facts, {100, 400, 4, 1}, 400), 80);
    EXPECT_EQ(packedWidth(facts, {100, 300, 4, 1}, 300), std::nullopt);
    facts.threads = 2;
    EXPECT_EQ(packedWidth(facts, {600, 2400, 4, 1}, 2400), 80); // 25 tiles of 96 are odd
}

} // namespace
} // namespace tenon::compiler
