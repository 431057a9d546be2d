// SPDX-License-Identifier: Apache-2.0
// 16-bit floats on a processor without instructions for them (x86-64 before F16C), against the
// conversions of tensors.
#include "tests/support/environment.h"
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace tenon {
namespace {

using core::Tensor;
using tir::Expr;

constexpr const char* kBaseline = "llvm -mtriple=x86_64-linux-gnu";

#if defined(__x86_64__)

/// y[i] = f(x[i]) over vectors of `lanes`.
Tensor map(const Tensor& from, core::DataType to, int lanes, const std::function<Expr(Expr)>& f)
{
    const int64_t count = from.size();
    const auto x = tir::makeBuffer("x", {Expr(count)}, from.dtype());
    const auto y = tir::makeBuffer("y", {Expr(count)}, to);
    const auto i = tir::makeVar("i");
    const Expr index = lanes == 1 ? Expr(i) : tir::ramp(Expr(i) * lanes, 1, lanes);
    tir::PrimFunc function;
    function.name = "map";
    function.params = {x, y};
    function.body = tir::forLoop({i, 0, Expr(count / lanes), tir::LoopKind::Serial, {}},
                                 tir::store(y, {index}, f(tir::load(x, {index}))));
    const auto result = test::runCompiled(function, {from}, kBaseline);
    CHECK(result) << result.error().text();
    return (*result)[0];
}

Tensor halvesOf(const std::vector<uint16_t>& bits)
{
    const auto count = static_cast<int64_t>(bits.size());
    return Tensor::make(core::kFloat16, {count}, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), bits.data(), out.size());
    });
}

Tensor everyHalf()
{
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    return halvesOf(bits);
}

TEST(SoftHalf, WidensEveryHalf)
{
    const Tensor halves = everyHalf();
    for (const int lanes : {1, 8}) {
        const Tensor wide = map(halves, core::kFloat32, lanes, [&](const Expr& x) {
            return tir::cast(core::kFloat32.withLanes(static_cast<uint16_t>(lanes)), x);
        });
        const auto got = wide.as<float>();
        for (size_t i = 0; i < 65536; ++i) {
            const float wanted = core::halfToFloat(static_cast<uint16_t>(i));
            if (std::isnan(wanted))
                EXPECT_TRUE(std::isnan(got[i])) << i;
            else
                EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(wanted)) << i;
        }
    }
}

/// Every half, the middle between it and the next, and the numbers next to that middle.
TEST(SoftHalf, NarrowsToTheNearestEven)
{
    std::vector<float> numbers;
    for (uint32_t i = 0; i < 65536; ++i) {
        const float here = core::halfToFloat(static_cast<uint16_t>(i));
        const float next = core::halfToFloat(static_cast<uint16_t>(i + 1));
        const float middle =
            (i & 0x7fff) == 0x7bff ? std::copysign(65520.0f, here) : here + (next - here) / 2;
        numbers.insert(numbers.end(),
                       {here, middle, std::nextafter(middle, here), std::nextafter(middle, next)});
    }
    for (const float other : {1e-45f, -1e-45f, 1e30f, -1e30f, INFINITY, -INFINITY, 0.1f, -0.1f})
        numbers.push_back(other);
    const auto count = static_cast<int64_t>(numbers.size());
    const Tensor given = Tensor::of(core::kFloat32, {count}, numbers);
    const auto check = [&](const Tensor& halves, const char* from) {
        for (int64_t i = 0; i < count; ++i) {
            uint16_t got = 0;
            std::memcpy(&got, halves.bytes().data() + 2 * i, 2);
            const float number = numbers[static_cast<size_t>(i)];
            if (std::isnan(number))
                EXPECT_TRUE(std::isnan(core::halfToFloat(got))) << from << " " << i;
            else
                EXPECT_EQ(got, core::floatToHalf(number)) << from << " " << number;
        }
    };
    check(map(given, core::kFloat16, 8,
              [](const Expr& x) { return tir::cast(core::kFloat16.withLanes(8), x); }),
          "binary32");
    check(map(given, core::kFloat16, 8,
              [](const Expr& x) {
                  return tir::cast(core::kFloat16.withLanes(8),
                                   tir::cast(core::kFloat64.withLanes(8), x));
              }),
          "binary64");
}

TEST(SoftHalf, ConvertsBfloats)
{
    std::vector<float> numbers{0.0f, -0.0f, 1e-45f, 3e38f, -INFINITY, 0.8192f};
    for (uint32_t i = 0; i < 65536; ++i) // the middle between two, and its neighbours
        for (const uint32_t low : {0x7fffu, 0x8000u, 0x8001u})
            numbers.push_back(std::bit_cast<float>(i << 16 | low));
    const auto count = static_cast<int64_t>(numbers.size());
    const Tensor got =
        map(Tensor::of(core::kFloat32, {count}, numbers), core::kFloat32, 1,
            [](const Expr& x) { return tir::cast(core::kFloat32, tir::cast(core::kBfloat16, x)); });
    for (int64_t i = 0; i < count; ++i) {
        const float number = numbers[static_cast<size_t>(i)];
        const float wanted = core::bfloatToFloat(core::floatToBfloat(number));
        if (std::isnan(wanted))
            EXPECT_TRUE(std::isnan(got.as<float>()[static_cast<size_t>(i)])) << i;
        else
            EXPECT_EQ(got.as<float>()[static_cast<size_t>(i)], wanted) << number;
    }
}

/// Two roundings would go to even at the middle; one goes up.
TEST(SoftHalf, RoundsDoublesOnce)
{
    const std::vector<double> numbers{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 0x1p-11 - 0x1p-40,
                                      -1 - 0x1p-11 - 0x1p-40};
    const Tensor halves = map(Tensor::of(core::kFloat64, {4}, numbers), core::kFloat16, 1,
                              [](const Expr& x) { return tir::cast(core::kFloat16, x); });
    EXPECT_EQ(halves.numbers(), (std::vector<double>{1 + 0x1p-10, 1, 1, -1 - 0x1p-10}));
}

TEST(SoftHalf, RoundsAfterEachOperation)
{
    const Tensor halves = halvesOf({core::floatToHalf(2048), core::floatToHalf(0.1f)});
    const Tensor sums = map(halves, core::kFloat16, 1, [](const Expr& x) {
        const Expr one = tir::floatImm(1, core::kFloat16);
        return x + one + one;
    });
    EXPECT_EQ(sums.number(0), 2048); // 2049 is no half; it goes to even each time
}

#endif

} // namespace
} // namespace tenon
