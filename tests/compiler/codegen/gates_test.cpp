// SPDX-License-Identifier: Apache-2.0
// Gates that lowering computes by one exponential, against what models spell out, in higher
// precision.
#include "compiler/schedule/lower.h"
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace tenon {
namespace {

using core::Tensor;
using tir::Expr;
using tir::Intrinsic;

Expr number(double value) { return tir::floatImm(value); }

/// As importers write it.
Expr tanhOfSoftplus(const Expr& x)
{
    const Expr decay = tir::call(Intrinsic::Exp, tir::call(Intrinsic::Abs, x) * number(-1));
    return tir::call(Intrinsic::Tanh,
                     maximum(x, number(0)) + tir::call(Intrinsic::Log, decay + number(1)));
}

std::vector<float> lowered(const std::vector<float>& x, const std::function<Expr(const Expr&)>& f)
{
    const auto count = static_cast<int64_t>(x.size());
    const auto in = tir::makeBuffer("x", {Expr(count)}, core::kFloat32);
    const auto out = tir::makeBuffer("y", {Expr(count)}, core::kFloat32);
    const auto i = tir::makeVar("i");
    tir::PrimFunc function;
    function.name = "gate";
    function.params = {in, out};
    function.body =
        compiler::lowerGates(tir::forLoop({i, 0, Expr(count), tir::LoopKind::Serial, {}},
                                          tir::store(out, {Expr(i)}, f(tir::load(in, {Expr(i)})))));
    const auto result = test::runCompiled(function, {Tensor::of(core::kFloat32, {count}, x)});
    CHECK(result) << result.error().text();
    const auto values = (*result)[0].as<float>();
    return {values.begin(), values.end()};
}

std::vector<float> sweep(double low, double high)
{
    std::vector<float> values;
    constexpr int kCount = 40000;
    for (int i = 0; i < kCount; ++i)
        values.push_back(static_cast<float>(low + (high - low) * i / (kCount - 1)));
    return values;
}

double worstRelative(const std::vector<float>& x, const std::vector<float>& got,
                     const std::function<long double(long double)>& wanted)
{
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const long double value = wanted(x[i]);
        worst = std::max(worst, static_cast<double>(std::abs((got[i] - value) / value)));
    }
    return worst;
}

TEST(Gates, TanhOfSoftplusKeepsItsDigits)
{
    const auto wanted = [](long double x) { return std::tanh(std::log1p(std::exp(x))); };
    const std::vector<float> x = sweep(-80, 80);
    EXPECT_LT(worstRelative(x, lowered(x, tanhOfSoftplus), wanted), 6e-7);
    const std::vector<float> near = sweep(-2, 2);
    EXPECT_LT(worstRelative(near, lowered(near, tanhOfSoftplus), wanted), 6e-7);
}

TEST(Gates, OnePlusTanhKeepsItsDigits)
{
    const auto gate = [](const Expr& x) { return number(1) + tir::call(Intrinsic::Tanh, x); };
    const auto wanted = [](long double x) { return 2 / (1 + std::exp(-2 * x)); };
    const std::vector<float> x = sweep(-40, 40);
    EXPECT_LT(worstRelative(x, lowered(x, gate), wanted), 6e-7);
}

TEST(Gates, KeepsWhatIsNoNumber)
{
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> got =
        lowered({-inf, inf, std::numeric_limits<float>::quiet_NaN(), 0}, tanhOfSoftplus);
    EXPECT_EQ(got[0], 0);
    EXPECT_EQ(got[1], 1);
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_NEAR(got[3], 0.6, 1e-7);
}

} // namespace
} // namespace tenon
