// SPDX-License-Identifier: Apache-2.0
// Products that stand for quotients, compared where roundings differ first.
#include "compiler/codegen/llvm/near_reciprocal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tenon::compiler {
namespace {

constexpr int64_t kMost = 255;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float whole(float x) { return std::nearbyint(std::clamp(x, -float(kMost), float(kMost))); }

float product(float x, const NearReciprocal& by)
{
    return by.low == 0 ? x * by.high : std::fma(x, by.high, x * by.low);
}

/// Around each half, where roundings differ first, and anywhere.
void expectSameIntegers(float divisor, const NearReciprocal& by, std::mt19937& random)
{
    std::uniform_real_distribution<float> anywhere(-300 * divisor, 300 * divisor);
    const auto expectSame = [&](float x) {
        ASSERT_EQ(whole(x / divisor), whole(product(x, by))) << x << " / " << divisor;
    };
    for (int64_t i = 0; i <= kMost; ++i) {
        float x = (static_cast<float>(i) + 0.5F) * divisor;
        for (int step = 0; step < 4; ++step) x = std::nextafter(x, 0.0F);
        for (int step = 0; step < 8; ++step, x = std::nextafter(x, kInfinity)) {
            expectSame(x);
            expectSame(-x);
        }
        expectSame(anywhere(random));
    }
    for (const float x : {0.0F, kInfinity, -kInfinity, std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::denorm_min()})
        expectSame(x);
}

TEST(NearReciprocal, RoundsToTheIntegersOfTheQuotient)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> exponent(-20, 5);
    int found = 0;
    for (int i = 0; i < 400; ++i) {
        const float divisor = std::exp2(exponent(random));
        const auto by = nearReciprocal(divisor, kMost);
        if (!by) continue;
        ++found;
        expectSameIntegers(divisor, *by, random);
    }
    EXPECT_GT(found, 390);
}

TEST(NearReciprocal, IsOneProductForPowersOfTwo)
{
    const auto by = nearReciprocal(0.25F, kMost);
    ASSERT_TRUE(by);
    EXPECT_EQ(by->high, 4);
    EXPECT_EQ(by->low, 0);
}

TEST(NearReciprocal, LeavesDivisorsWhoseProductsAreNotNormal)
{
    for (const float divisor :
         {0.0F, -1.0F, 0x1p-100F, 0x1p100F, kInfinity, std::numeric_limits<float>::quiet_NaN()})
        EXPECT_FALSE(nearReciprocal(divisor, kMost));
}

} // namespace
} // namespace tenon::compiler
