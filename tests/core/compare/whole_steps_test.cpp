// SPDX-License-Identifier: Apache-2.0
// Which floats are whole numbers of steps.
#include "core/compare/whole_steps.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(WholeSteps, AreTheIntegersBehindThem)
{
    const IntegersBehind behind{kInt8, {.scales = {0.1, 0.25}, .zeros = {3, -1}, .axis = 0}};
    const auto steps =
        inWholeSteps(Tensor::of<float>(kFloat32, {2, 2}, {-0.3F, 12.4F, 1, 0}), behind);
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->dtype(), kInt8);
    EXPECT_EQ(steps->integers(), (std::vector<int64_t>{0, 127, 3, -1}));
}

TEST(WholeSteps, AreNoneOfWhatLiesBetweenOrBeyond)
{
    const IntegersBehind behind{kInt8, {.scales = {0.1}, .zeros = {0}}};
    const auto isNone = [&](float value) {
        return !inWholeSteps(Tensor::of<float>(kFloat32, {2}, {0.1F, value}), behind);
    };
    EXPECT_FALSE(isNone(12.7F));
    EXPECT_TRUE(isNone(12.7F * (1 + 1.0F / 1024)));
    EXPECT_TRUE(isNone(12.8F));
    EXPECT_TRUE(isNone(0.15F));
    EXPECT_TRUE(isNone(NAN));
    EXPECT_TRUE(isNone(INFINITY));
}

} // namespace
} // namespace tenon::core
