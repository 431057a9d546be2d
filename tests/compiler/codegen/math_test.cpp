// SPDX-License-Identifier: Apache-2.0
// The vector expansions of exp, log, tanh, ... against the C library in higher precision, with
// stated bounds.
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace tenon {
namespace {

using core::Tensor;
using tir::Expr;

/// y[i] = f(x[i]) over vectors.
tir::PrimFunc mapKernel(int64_t count, core::DataType dtype, const std::function<Expr(Expr)>& f,
                        int lanes)
{
    const auto x = tir::makeBuffer("x", {Expr(count)}, dtype);
    const auto y = tir::makeBuffer("y", {Expr(count)}, dtype);
    const auto i = tir::makeVar("i");
    const Expr index = lanes == 1 ? Expr(i) : tir::ramp(Expr(i) * lanes, 1, lanes);
    tir::PrimFunc function;
    function.name = "map";
    function.params = {x, y};
    function.body = tir::forLoop({i, 0, Expr(count / lanes), tir::LoopKind::Serial, {}},
                                 tir::store(y, {index}, f(tir::load(x, {index}))));
    return function;
}

template <class T>
std::vector<T> sweep(double low, double high, int64_t count)
{
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<T>(low + (high - low) * static_cast<double>(i) /
                                                  static_cast<double>(count - 1)));
    return values;
}

template <class T>
std::vector<T> apply(core::DataType dtype, const std::vector<T>& x,
                     const std::function<Expr(Expr)>& f, int lanes = 8)
{
    const int64_t count = static_cast<int64_t>(x.size());
    const auto result =
        test::runCompiled(mapKernel(count, dtype, f, lanes), {Tensor::of(dtype, {count}, x)});
    CHECK(result) << result.error().text();
    const auto values = (*result)[0].template as<T>();
    return {values.begin(), values.end()};
}

double ulpError(float got, long double wanted)
{
    const float nearest = static_cast<float>(wanted);
    if (std::isnan(wanted) || std::isinf(nearest))
        return (std::isnan(got) && std::isnan(wanted)) || got == nearest ? 0 : 1e9;
    const float step = std::nextafter(std::fabs(nearest), std::numeric_limits<float>::infinity()) -
                       std::fabs(nearest);
    return static_cast<double>(std::fabs(static_cast<long double>(got) - wanted) /
                               static_cast<long double>(step));
}

struct Row
{
    const char* name;
    tir::Intrinsic intrinsic;
    double low;
    double high;
    double maxUlp;
    long double (*reference)(long double);
    double ulpPerUnit = 0; ///< on top, per unit of the argument's magnitude
};

long double sigmoidL(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrtL(long double x) { return 1 / std::sqrt(x); }

const Row kRows[] = {
    {"exp", tir::Intrinsic::Exp, -100, 88, 2, std::exp},
    {"exp_nonpositive", tir::Intrinsic::ExpNonPositive, -87.3, 0, 2, std::exp},
    {"log", tir::Intrinsic::Log, 1e-6, 1000, 2, std::log},
    {"tanh", tir::Intrinsic::Tanh, -10, 10, 3, std::tanh},
    {"sigmoid", tir::Intrinsic::Sigmoid, -80, 40, 4, sigmoidL, 1.2},
    {"erf", tir::Intrinsic::Erf, -5, 5, 3, std::erf},
    {"sin", tir::Intrinsic::Sin, -3, 3, 3, std::sin},
    {"cos", tir::Intrinsic::Cos, -1.5, 1.5, 3, std::cos},
    {"atan", tir::Intrinsic::Atan, -20, 20, 3, std::atan},
    {"sqrt", tir::Intrinsic::Sqrt, 0, 1000, 0.51, std::sqrt},
    {"rsqrt", tir::Intrinsic::Rsqrt, 0.01, 1000, 2, rsqrtL},
    {"sinh", tir::Intrinsic::Sinh, -8, 8, 4, std::sinh},
    {"asinh", tir::Intrinsic::Asinh, -8, 8, 5, std::asinh},
    {"floor", tir::Intrinsic::Floor, -20, 20, 0, std::floor},
    {"ceil", tir::Intrinsic::Ceil, -20, 20, 0, std::ceil},
    {"round", tir::Intrinsic::Round, -20, 20, 0, std::nearbyint},
};

void checkBound(const Row& row, int lanes)
{
    const auto x = sweep<float>(row.low, row.high, 80000);
    const auto y = apply<float>(
        core::kFloat32, x, [&](Expr e) { return tir::call(row.intrinsic, e); }, lanes);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double error = ulpError(y[i], row.reference(x[i])) -
                             row.ulpPerUnit * std::fabs(static_cast<double>(x[i]));
        if (error > worst) {
            worst = error;
            where = x[i];
        }
    }
    EXPECT_LE(worst, row.maxUlp) << row.name << " at " << where << ", lanes " << lanes;
}

TEST(VectorMath, staysWithinItsBoundInBinary32)
{
    for (const int lanes : {8, 16})
        for (const Row& row : kRows) checkBound(row, lanes);
}

/// Numbers of every magnitude and sign, with the infinities: one of each `step` bit patterns.
std::vector<float> ofEveryMagnitude(uint32_t step)
{
    std::vector<float> values;
    for (uint64_t bits = 0; bits <= 0xff800000u; bits += step) {
        const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
        if (!std::isnan(value)) values.push_back(value);
    }
    const float inf = std::numeric_limits<float>::infinity();
    values.insert(values.end(), {inf, -inf, 1, -1, 88.8f, -89.3f});
    values.resize((values.size() + 15) / 16 * 16);
    return values;
}

struct WideRow
{
    const char* name;
    tir::Intrinsic intrinsic;
    double largest; ///< error, of 1 or of the result where that is larger
    long double (*reference)(long double);
};

const WideRow kWideRows[] = {
    {"sin", tir::Intrinsic::Sin, 1.5e-7, std::sin},
    {"cos", tir::Intrinsic::Cos, 1.5e-7, std::cos},
    {"sinh", tir::Intrinsic::Sinh, 1e-6, std::sinh},
    {"cosh", tir::Intrinsic::Cosh, 1e-6, std::cosh},
    {"asinh", tir::Intrinsic::Asinh, 5e-7, std::asinh},
    {"acosh", tir::Intrinsic::Acosh, 5e-7, std::acosh},
    {"atan", tir::Intrinsic::Atan, 5e-7, std::atan},
    {"atanh", tir::Intrinsic::Atanh, 5e-7, std::atanh},
};

/// Largest where one is finite and the other is not.
double wideError(float got, long double wanted)
{
    const auto nearest = static_cast<float>(wanted);
    if (std::isnan(nearest) && std::isnan(got)) return 0;
    if (!std::isfinite(nearest) || !std::isfinite(got)) return got == nearest ? 0 : 1e9;
    return static_cast<double>(std::fabs(static_cast<long double>(got) - wanted) /
                               std::max(1.0L, std::fabs(wanted)));
}

TEST(VectorMath, isRightForArgumentsOfEveryMagnitude)
{
    const auto x = ofEveryMagnitude(40961);
    for (const int lanes : {1, 8, 16})
        for (const WideRow& row : kWideRows) {
            const auto y = apply<float>(
                core::kFloat32, x, [&](Expr e) { return tir::call(row.intrinsic, e); }, lanes);
            double worst = 0;
            float where = 0;
            for (size_t i = 0; i < x.size(); ++i) {
                const double error = wideError(y[i], row.reference(x[i]));
                if (error <= worst) continue;
                worst = error;
                where = x[i];
            }
            EXPECT_LE(worst, row.largest) << row.name << " at " << where << ", lanes " << lanes;
        }
}

TEST(VectorMath, saturatesWithinItsBoundForEveryNumber)
{
    const auto x = ofEveryMagnitude(5003);
    for (const char* name : {"tanh", "erf"})
        for (const int lanes : {8, 16}) {
            const Row& row = *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) {
                return r.name == std::string(name);
            });
            const auto y = apply<float>(
                core::kFloat32, x, [&](Expr e) { return tir::call(row.intrinsic, e); }, lanes);
            double worst = 0;
            for (size_t i = 0; i < x.size(); ++i) {
                worst = std::max(worst, ulpError(y[i], row.reference(x[i])));
                ASSERT_LE(std::fabs(y[i]), 1.0f) << name << " of " << x[i];
                ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << name << " of " << x[i];
            }
            EXPECT_LE(worst, row.maxUlp) << name << ", lanes " << lanes;
        }
}

TEST(VectorMath, takesLogarithmsOfEveryNumber)
{
    auto x = ofEveryMagnitude(5003);
    for (int i = -800; i < 800; ++i) x.push_back(1 + static_cast<float>(i) * 0x1p-22F);
    for (const int lanes : {8, 16}) {
        const auto y = apply<float>(
            core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::Log, v); }, lanes);
        for (size_t i = 0; i < x.size(); ++i)
            ASSERT_LE(ulpError(y[i], std::log(static_cast<long double>(x[i]))), 2)
                << x[i] << ", lanes " << lanes;
    }
}

TEST(VectorMath, isAccurateInBinary64)
{
    for (const Row& row : kRows) {
        const auto x = sweep<double>(row.low, row.high, 8000);
        const auto y =
            apply<double>(core::kFloat64, x, [&](Expr e) { return tir::call(row.intrinsic, e); });
        for (size_t i = 0; i < x.size(); ++i) {
            const double wanted = static_cast<double>(row.reference(x[i]));
            EXPECT_NEAR(y[i], wanted, 4e-13 * std::fabs(wanted) + 1e-300)
                << row.name << " at " << x[i];
        }
    }
}

TEST(VectorMath, multipliesArgumentsByReciprocals)
{
    const auto x = sweep<float>(-5, 5, 8000);
    const double root = 1.4142135623730951;
    const auto y = apply<float>(core::kFloat32, x, [&](Expr e) {
        return tir::call(tir::Intrinsic::Erf, e / tir::broadcast(tir::floatImm(root), 8));
    });
    for (size_t i = 0; i < x.size(); ++i)
        EXPECT_LE(ulpError(y[i], std::erf(static_cast<long double>(x[i]) / std::sqrt(2.0L))), 4)
            << x[i];
}

TEST(VectorMath, exponentialsOfWhatIsNotPositiveEndInZero)
{
    const float inf = std::numeric_limits<float>::infinity();
    for (const int lanes : {8, 16}) {
        std::vector<float> x{-inf,   std::nanf(""), std::nanf("3"), -0.0f,  -87.3f,
                             -88.1f, -103.0f,       -200.0f,        -1e10f, -3e38f};
        x.resize(16);
        const auto y = apply<float>(
            core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::ExpNonPositive, v); },
            lanes);
        EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2])) << lanes;
        EXPECT_EQ(y[3], 1);
        EXPECT_LE(ulpError(y[4], std::exp(static_cast<long double>(x[4]))), 2);
        for (const size_t end : {0, 5, 6, 7, 8, 9}) EXPECT_EQ(y[end], 0) << x[end];
    }
}

TEST(VectorMath, keepsSpecialValues)
{
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> x{inf, -inf, nan, 0.0f, -0.0f, 1e-45f, 200.0f, -200.0f};
    const auto e =
        apply<float>(core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::Exp, v); });
    EXPECT_EQ(e[0], inf);
    EXPECT_EQ(e[1], 0);
    EXPECT_TRUE(std::isnan(e[2]));
    EXPECT_EQ(e[3], 1);
    EXPECT_EQ(e[6], inf);
    EXPECT_EQ(e[7], 0);
    x.resize(16);
    for (const int lanes : {8, 16}) {
        const auto l = apply<float>(
            core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::Log, v); }, lanes);
        EXPECT_EQ(l[0], inf);
        EXPECT_TRUE(std::isnan(l[1]));
        EXPECT_TRUE(std::isnan(l[2]));
        EXPECT_EQ(l[3], -inf);
        EXPECT_EQ(l[4], -inf);
        EXPECT_NEAR(l[5], -103.27893, 1e-4);
        EXPECT_TRUE(std::isnan(l[7]));
    }
    const auto relu = apply<float>(core::kFloat32, x, [](Expr v) {
        return tir::maximum(v, tir::broadcast(tir::floatImm(0), 8));
    });
    EXPECT_TRUE(std::isnan(relu[2]));
}

TEST(VectorMath, saturatesAtInfinitiesAndKeepsNan)
{
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> x{inf, -inf, std::numeric_limits<float>::quiet_NaN()};
    x.resize(16);
    for (const tir::Intrinsic saturating : {tir::Intrinsic::Tanh, tir::Intrinsic::Erf})
        for (const int lanes : {8, 16}) {
            const auto y = apply<float>(
                core::kFloat32, x, [&](Expr v) { return tir::call(saturating, v); }, lanes);
            EXPECT_EQ(y[0], 1) << lanes;
            EXPECT_EQ(y[1], -1) << lanes;
            EXPECT_TRUE(std::isnan(y[2])) << lanes;
        }
}

TEST(VectorMath, exponentialsEndAsTheyShould)
{
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> x{inf,   -inf,  nan,    0.0f,   -0.0f,   1e-45f,  88.7f, 88.73f,
                         89.9f, 3e38f, -87.4f, -95.0f, -103.9f, -104.1f, -1e9f, -3e38f};
    for (const int lanes : {8, 16}) {
        const auto y = apply<float>(
            core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::Exp, v); }, lanes);
        for (size_t i = 0; i < x.size(); ++i)
            EXPECT_LE(ulpError(y[i], std::exp(static_cast<long double>(x[i]))), 2)
                << x[i] << ", lanes " << lanes;
    }
}

TEST(VectorMath, sigmoidIsExactWhereItSaturates)
{
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> x{
        inf, -inf, std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f, 30.0f, 200.0f, -200.0f};
    x.resize(16);
    for (const int lanes : {8, 16}) {
        const auto y = apply<float>(
            core::kFloat32, x, [](Expr v) { return tir::call(tir::Intrinsic::Sigmoid, v); }, lanes);
        EXPECT_EQ(y[0], 1) << lanes;
        EXPECT_LT(y[1], 1e-37f) << lanes;
        EXPECT_TRUE(std::isnan(y[2])) << lanes;
        EXPECT_EQ(y[3], 0.5f) << lanes;
        EXPECT_EQ(y[4], 0.5f) << lanes;
        EXPECT_EQ(y[5], 1) << lanes;
        EXPECT_EQ(y[6], 1) << lanes;
        EXPECT_LT(y[7], 1e-37f) << lanes;
    }
}

TEST(VectorMath, powersAreRoundedOnce)
{
    const float inf = std::numeric_limits<float>::infinity();
    auto x = sweep<float>(0, 30, 4000);
    for (int i = -2000; i < 2000; ++i) x.push_back(std::exp2(static_cast<float>(i) * 0.07F));
    x.insert(x.end(), {inf, -inf, std::nanf(""), -0.0F, 1e-45F, 3e38F, 1, -1});
    x.resize((x.size() + 15) / 16 * 16, -3);
    for (const float y : {1.0F, -1.0F, 0.5F, 2.2F, 1 / 2.2F, -3.7F, 31.0F, 0.001F, inf, -inf}) {
        const auto got = apply<float>(
            core::kFloat32, x,
            [&](Expr v) {
                return tir::call(tir::Intrinsic::Pow, v->dtype,
                                 {v, tir::broadcast(tir::floatImm(y), 16)});
            },
            16);
        for (size_t i = 0; i < x.size(); ++i)
            ASSERT_LE(ulpError(got[i], std::pow(static_cast<long double>(x[i]),
                                                static_cast<long double>(y))),
                      0.55)
                << x[i] << "^" << y;
    }
}

TEST(VectorMath, powersOfSignedBases)
{
    const std::vector<float> x{2, -2, -2, 9, 0, 1, -8, 10};
    const std::vector<double> y{10, 3, 2, 0.5, 3, 77, 0.5, -3};
    const std::vector<float> wanted{1024, -8, 4, 3, 0, 1, std::nanf(""), 0.001f};
    for (size_t i = 0; i < x.size(); ++i) {
        const auto got = apply<float>(core::kFloat32, x, [&](Expr v) {
            return tir::call(tir::Intrinsic::Pow, v->dtype,
                             {v, tir::broadcast(tir::floatImm(y[i]), 8)});
        });
        if (std::isnan(wanted[i]))
            EXPECT_TRUE(std::isnan(got[i]));
        else
            EXPECT_FLOAT_EQ(got[i], wanted[i]) << x[i] << "^" << y[i];
    }
}

} // namespace
} // namespace tenon
