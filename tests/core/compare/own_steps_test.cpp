// SPDX-License-Identifier: Apache-2.0
// Differences in steps: over everything, over the worst channel, without what is clipped.
#include "core/compare/own_steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::core {
namespace {

TEST(OwnSteps, FindsTheChannelThatIsOff)
{
    // Four channels of two elements; the third is 3 steps off.
    const Tensor got = Tensor::of<int8_t>(kInt8, {1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const OwnSteps steps =
        ownSteps(got, {.scales = {0.5}, .zeros = {0}}, {0.5, 1, 1.5, 2, 4, 4.5, 3.5, 4});
    EXPECT_DOUBLE_EQ(steps.part, 3);
    EXPECT_DOUBLE_EQ(steps.mean, 1.5);
}

TEST(OwnSteps, TakesTheScaleOfEveryChannel)
{
    const Tensor got = Tensor::of<int8_t>(kInt8, {2, 2}, {1, 2, 3, 4});
    const QuantizedUnits units{.scales = {1, 10}, .zeros = {0, 1}, .axis = 0};
    EXPECT_EQ(ownSteps(got, units, {1, 2, 20, 30}).part, 0);
    EXPECT_DOUBLE_EQ(ownSteps(got, units, {1, 2, 20, 50}).part, std::sqrt(2)) << "2 of one of two";
}

TEST(OwnSteps, SetsClippedElementsApart)
{
    const QuantizedUnits units{.scales = {1}, .zeros = {0}};
    const OwnSteps steps =
        ownSteps(Tensor::of<int8_t>(kInt8, {4}, {127, -128, 127, 5}), units, {147, -148, 117, 5});
    EXPECT_DOUBLE_EQ(steps.part, 20);
    EXPECT_DOUBLE_EQ(steps.partInRange, 10) << "an end that is too high is not clipped";
}

TEST(OwnSteps, CountsWiderIntegersInStepsOfBytes)
{
    const QuantizedUnits units{.scales = {1}, .zeros = {0}};
    EXPECT_DOUBLE_EQ(ownSteps(Tensor::of<int16_t>(kInt16, {1}, {1024}), units, {1024 + 512}).mean,
                     2);
}

TEST(OwnSteps, KnowsNoBoundForWhatIsNoNumber)
{
    const QuantizedUnits units{.scales = {1}, .zeros = {0}};
    const OwnSteps steps = ownSteps(Tensor::of<int8_t>(kInt8, {2}, {0, 1}), units, {0, NAN});
    EXPECT_TRUE(steps.isBeyond({}));
}

TEST(OwnSteps, TakesTensorsWithoutElementsAndWithoutAxes)
{
    const QuantizedUnits units{.scales = {1}, .zeros = {0}};
    EXPECT_EQ(ownSteps(Tensor::of<int8_t>(kInt8, {0, 3}, {}), units, {}).part, 0);
    EXPECT_DOUBLE_EQ(ownSteps(Tensor::of<int8_t>(kInt8, {}, {3}), units, {1}).mean, 2);
}

} // namespace
} // namespace tenon::core
