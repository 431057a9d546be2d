// SPDX-License-Identifier: Apache-2.0
// The fast evaluator against loops written out here: packing, scaling, padding, reductions along
// either kind of axis.
#include "compiler/evaluate/evaluate.h"
#include "compiler/te/te.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::compiler {
namespace {

using te::Expr;

Tensor randomFloats(std::vector<int64_t> shape, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> spread(-1, 1);
    std::vector<float> values(static_cast<size_t>(elementCount(shape)));
    for (float& v : values) v = spread(random);
    return Tensor::of(kFloat32, std::move(shape), values);
}

std::vector<Tensor> run(const te::Tensors& in, const te::TensorRef& out,
                        const std::vector<Tensor>& values, unsigned threads = 2)
{
    const auto function = te::createPrimFunc("main", in, {out});
    CHECK(function) << function.error().text();
    const JobContext job(threads);
    auto result = evaluate(*function, values, job);
    CHECK(result) << result.error().text();
    return *result;
}

TEST(Evaluate, repacksConvolutionWeights)
{
    const auto w = te::placeholder("w", {Expr(128), Expr(32), Expr(3), Expr(3)}, kFloat32);
    const auto packed =
        te::compute("packed", {Expr(2), Expr(2), Expr(3), Expr(3), Expr(16), Expr(64)},
                    [&](const std::vector<Expr>& i) {
                        return te::at(w, {i[0] * 64 + i[5], i[1] * 16 + i[4], i[2], i[3]});
                    });
    const Tensor weights = randomFloats({128, 32, 3, 3}, 1);
    const auto got = run({w}, packed, {weights})[0];
    const auto in = weights.as<float>(), out = got.as<float>();
    size_t at = 0;
    for (size_t a = 0; a < 2; ++a)
        for (size_t b = 0; b < 2; ++b)
            for (size_t k = 0; k < 9; ++k)
                for (size_t i = 0; i < 16; ++i)
                    for (size_t o = 0; o < 64; ++o)
                        ASSERT_EQ(out[at++], in[((a * 64 + o) * 32 + b * 16 + i) * 9 + k]);
}

TEST(Evaluate, scalesByChannelAndRoundsOnce)
{
    const auto w = te::placeholder("w", {Expr(20), Expr(300)}, kFloat32);
    const auto s = te::placeholder("s", {Expr(20), Expr(1)}, kFloat32);
    const auto scaled = te::compute("scaled", w->shape(), [&](const std::vector<Expr>& i) {
        return te::at(w, i) * te::at(s, {i[0], Expr(0)});
    });
    const Tensor weights = randomFloats({20, 300}, 2), scale = randomFloats({20, 1}, 3);
    const auto got = run({w, s}, scaled, {weights, scale})[0];
    for (int64_t i = 0; i < 6000; ++i)
        ASSERT_EQ(got.as<float>()[static_cast<size_t>(i)],
                  weights.as<float>()[static_cast<size_t>(i)] *
                      scale.as<float>()[static_cast<size_t>(i / 300)]);
}

TEST(Evaluate, convolvesThroughAPadStage)
{
    const auto x = te::placeholder("x", {Expr(1), Expr(3), Expr(9), Expr(70)}, kFloat32);
    const auto w = te::placeholder("w", {Expr(4), Expr(3), Expr(3), Expr(3)}, kFloat32);
    const auto pad =
        te::compute("pad", {Expr(1), Expr(3), Expr(11), Expr(72)}, [&](const std::vector<Expr>& i) {
            const Expr inside = i[2] >= 1 && i[2] < 10 && i[3] >= 1 && i[3] < 71;
            return tir::call(
                tir::Intrinsic::IfThenElse, kFloat32,
                {inside, te::at(x, {i[0], i[1], i[2] - 1, i[3] - 1}), tir::floatImm(0)});
        });
    const auto conv =
        te::reduce("conv", {Expr(1), Expr(4), Expr(9), Expr(70)}, {Expr(3), Expr(3), Expr(3)},
                   te::Combiner::Sum, [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                       return te::at(pad, {i[0], r[0], i[2] + r[1], i[3] + r[2]}) *
                              te::at(w, {i[1], r[0], r[1], r[2]});
                   });
    const Tensor data = randomFloats({1, 3, 9, 70}, 4), weights = randomFloats({4, 3, 3, 3}, 5);
    const auto got = run({x, w}, conv, {data, weights})[0];
    for (int64_t o = 0; o < 4; ++o)
        for (int64_t h = 0; h < 9; ++h)
            for (int64_t v = 0; v < 70; ++v) {
                double sum = 0;
                for (int64_t c = 0; c < 3; ++c)
                    for (int64_t kh = 0; kh < 3; ++kh)
                        for (int64_t kw = 0; kw < 3; ++kw) {
                            const int64_t y = h + kh - 1, z = v + kw - 1;
                            if (y >= 0 && y < 9 && z >= 0 && z < 70)
                                sum += data.number((c * 9 + y) * 70 + z) *
                                       weights.number(((o * 3 + c) * 3 + kh) * 3 + kw);
                        }
                ASSERT_NEAR(got.number((o * 9 + h) * 70 + v), sum, 1e-6);
            }
}

TEST(Evaluate, reducesAlongTheOnlyLongAxis)
{
    const auto x = te::placeholder("x", {Expr(2), Expr(5000)}, kFloat32);
    const auto largest = te::reduce("m", {Expr(2)}, {Expr(5000)}, te::Combiner::Max,
                                    [&](const std::vector<Expr>& i, const std::vector<Expr>& r) {
                                        return te::at(x, {i[0], r[0]});
                                    });
    const Tensor data = randomFloats({2, 5000}, 6);
    const auto got = run({x}, largest, {data})[0];
    for (size_t row = 0; row < 2; ++row) {
        const auto values = data.as<float>().subspan(row * 5000, 5000);
        EXPECT_EQ(got.as<float>()[row], *std::max_element(values.begin(), values.end()));
    }
}

TEST(Evaluate, followsComputedPositions)
{
    const auto table = te::placeholder("table", {Expr(10), Expr(3)}, kFloat32);
    const auto index = te::placeholder("index", {Expr(4)}, kInt64);
    const auto taken = te::compute("taken", {Expr(4), Expr(3)}, [&](const std::vector<Expr>& i) {
        return te::at(table, {te::at(index, {i[0]}), i[1]});
    });
    const Tensor data = randomFloats({10, 3}, 7);
    const auto got =
        run({table, index}, taken, {data, Tensor::of<int64_t>(kInt64, {4}, {9, 0, 5, 5})})[0];
    EXPECT_EQ(got.as<float>()[0], data.as<float>()[27]);
    EXPECT_EQ(got.as<float>()[11], data.as<float>()[17]);
}

TEST(Evaluate, computesOnlyTheCaseOfEachPoint)
{
    const auto x = te::placeholder("x", {Expr(12), Expr(300)}, kFloat32);
    const auto choose = [](const Expr& axis, int64_t value, const Expr& then, const Expr& other) {
        return tir::call(tir::Intrinsic::IfThenElse, kFloat32,
                         {equal(axis, Expr(value)), then, other});
    };
    const auto out = te::compute(
        "out", {Expr(3), Expr(10), Expr(2), Expr(300)}, [&](const std::vector<Expr>& i) {
            const Expr sum = te::at(x, {i[1], i[3]}) + te::at(x, {i[1] + 1, i[3]});
            const Expr far = te::at(x, {i[1] + i[0], i[3]});
            return choose(i[0], 0, sum, choose(i[0], 1, choose(i[2], 0, sum + sum, far), far));
        });
    const Tensor values = randomFloats({12, 300}, 9);
    const Tensor result = run({x}, out, {values})[0];
    const auto got = result.as<float>();
    const auto at = [&](size_t row, size_t column) {
        return static_cast<double>(values.as<float>()[row * 300 + column]);
    };
    for (size_t e = 0; e < got.size(); ++e) {
        const size_t column = e % 300, half = e / 300 % 2, row = e / 600 % 10, which = e / 6000;
        const double sum = at(row, column) + at(row + 1, column);
        const double wanted = which == 0                ? sum
                              : which == 1 && half == 0 ? sum * 2
                                                        : at(row + which, column);
        ASSERT_EQ(got[e], static_cast<float>(wanted)) << e;
    }
}

TEST(Evaluate, takesShortRowsTogether)
{
    // More steps than one thread takes; rows of 6, of which 42 go at a time and 11 are left.
    const auto x = te::placeholder("x", {Expr(50), Expr(53), Expr(6)}, kFloat32);
    const auto index = te::placeholder("index", {Expr(53)}, kInt64);
    const auto out =
        te::compute("out", {Expr(9), Expr(50), Expr(53), Expr(6)}, [&](const std::vector<Expr>& i) {
            const Expr turned = te::at(x, {i[1], Expr(52) - i[2], i[3]});
            const Expr taken = te::at(x, {i[1], te::at(index, {i[2]}), Expr(5) - i[3]});
            const Expr next = tir::call(
                tir::Intrinsic::IfThenElse, kFloat32,
                {i[2] + 1 < Expr(53), te::at(x, {i[1], i[2] + 1, i[3]}), tir::floatImm(0.5)});
            return turned + taken + next + tir::cast(kFloat32, i[0] * 7 + i[2] * 2 + i[3]);
        });
    const Tensor values = randomFloats({50, 53, 6}, 10);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < 53; ++i) places.push_back(i * 20 % 53);
    const Tensor result = run({x, index}, out, {values, Tensor::of(kInt64, {53}, places)})[0];
    const auto at = [&](int64_t a, int64_t b, int64_t c) {
        return static_cast<double>(values.as<float>()[static_cast<size_t>((a * 53 + b) * 6 + c)]);
    };
    for (int64_t e = 0; e < result.size(); ++e) {
        const int64_t column = e % 6, row = e / 6 % 53, plane = e / 318 % 50, which = e / 15900;
        const double next = row + 1 < 53 ? at(plane, row + 1, column) : 0.5;
        const double sum = at(plane, 52 - row, column) +
                           at(plane, places[static_cast<size_t>(row)], 5 - column) + next +
                           static_cast<double>(which * 7 + row * 2 + column);
        ASSERT_EQ(result.as<float>()[static_cast<size_t>(e)], static_cast<float>(sum)) << e;
    }
}

std::vector<float> runText(const char* text, const Tensor& value)
{
    const auto function = tir::parsePrimFunc(text);
    CHECK(function) << function.error().text();
    const auto result = evaluate(*function, {value}, JobContext(2));
    CHECK(result) << result.error().text();
    const auto out = result->at(0).as<float>();
    return {out.begin(), out.end()};
}

TEST(Evaluate, followsLoopsThatStartLater)
{
    const Tensor in = randomFloats({40}, 12);
    const std::vector<float> out = runText(R"(@T.prim_func
def main(a: T.Buffer((40,), "float32"), b: T.Buffer((40,), "float32")):
    with T.block("root"):
        for i in T.serial(38, start=2):
            with T.block("part"):
                vi = T.axis.spatial(40, i)
                b[vi] = a[vi]
)",
                                           in);
    for (size_t i = 2; i < 40; ++i) ASSERT_EQ(out[i], in.as<float>()[i]) << i;
}

TEST(Evaluate, readsWhatItWroteBefore)
{
    const Tensor in = randomFloats({40}, 13);
    const std::vector<float> out = runText(R"(@T.prim_func
def main(a: T.Buffer((40,), "float32"), b: T.Buffer((40,), "float32")):
    with T.block("root"):
        for j in T.serial(1):
            with T.block("first"):
                vj = T.axis.spatial(1, j)
                b[vj] = a[vj]
        for i in T.serial(39):
            with T.block("sums"):
                vi = T.axis.spatial(39, i)
                b[vi + 1] = b[vi] + a[vi + 1]
)",
                                           in);
    float sum = in.as<float>()[0];
    for (size_t i = 1; i < 40; ++i) ASSERT_EQ(out[i], sum += in.as<float>()[i]) << i;
}

TEST(Evaluate, dividesOnlyWhereItIsAsked)
{
    const auto a = te::placeholder("a", {Expr(64)}, kInt32);
    const auto quotient = te::compute("quotient", a->shape(), [&](const std::vector<Expr>& i) {
        const Expr x = te::at(a, i), hundred = tir::intImm(100, kInt32);
        return tir::select(tir::notEqual(x, tir::intImm(0, kInt32)), hundred / x, hundred);
    });
    std::vector<int32_t> values(64);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i % 8) - 3;
    const auto got = run({a}, quotient, {Tensor::of(kInt32, {64}, values)})[0];
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(got.as<int32_t>()[i], values[i] == 0 ? 100 : 100 / values[i]);
}

TEST(Evaluate, roundsAnIntegerThatAFloatCannotHold)
{
    const auto a = te::placeholder("a", {Expr(64)}, kInt64);
    const auto rest = te::compute("rest", a->shape(), [&](const std::vector<Expr>& i) {
        return tir::cast(kFloat32, te::at(a, i)) - tir::floatImm(16777216);
    });
    const std::vector<int64_t> values(64, 16777217);
    const auto got = run({a}, rest, {Tensor::of(kInt64, {64}, values)})[0];
    EXPECT_EQ(got.as<float>()[0], 0);
}

TEST(Evaluate, namesTheBufferOfAnAccessOutside)
{
    const auto table = te::placeholder("table", {Expr(10)}, kFloat32);
    const auto index = te::placeholder("index", {Expr(1)}, kInt64);
    const auto taken = te::compute("taken", {Expr(1)}, [&](const std::vector<Expr>& i) {
        return te::at(table, {te::at(index, i)});
    });
    const auto function = te::createPrimFunc("main", {table, index}, {taken});
    const JobContext job;
    const auto result =
        evaluate(*function, {randomFloats({10}, 8), Tensor::of<int64_t>(kInt64, {1}, {10})}, job);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("table"), std::string::npos) << result.error().text();
}

TEST(Evaluate, stopsWhenCancelled)
{
    const auto x = te::placeholder("x", {Expr(4), Expr(4)}, kFloat32);
    const auto y = te::compute("y", x->shape(), [&](const std::vector<Expr>& i) {
        return te::at(x, i) + tir::floatImm(1);
    });
    const auto function = te::createPrimFunc("main", {x}, {y});
    JobContext job;
    job.requestStop();
    const auto result = evaluate(*function, {randomFloats({4, 4}, 9)}, job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, DiagnosticCode::Cancelled);
}

} // namespace
} // namespace tenon::compiler
