// SPDX-License-Identifier: Apache-2.0
// The rule of verify, element by element, on outputs worked out by hand.
#include "app/cli/verify_judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::cli {
namespace {

Tensor floats(const std::vector<float>& values)
{
    return Tensor::of<float>(kFloat32, {static_cast<int64_t>(values.size())}, values);
}

Tensor bytes(const std::vector<int8_t>& values)
{
    return Tensor::of<int8_t>(kInt8, {static_cast<int64_t>(values.size())}, values);
}

/// Of a float output that is `scale` times the quantized tensor.
StepEffect scaled(const std::vector<float>& exact, float scale)
{
    StepEffect effect{.exact = floats(exact), .elements = static_cast<int64_t>(exact.size())};
    for (const float step : {scale, -scale}) {
        std::vector<float> moved = exact;
        for (float& value : moved) value += step;
        effect.moved.push_back(floats(moved));
    }
    return effect;
}

TEST(Judge, WantsFloatsWithinTheToleranceAndIntegersEqual)
{
    const Tolerance tolerance{0.1, 0.01};
    EXPECT_EQ(judge(floats({1, 2}), floats({1.05F, 2.1F}), tolerance).reason, "");
    const Judgement off = judge(floats({1, 2}), floats({1, 3}), tolerance);
    EXPECT_EQ(off.outside, 1);
    EXPECT_EQ(off.maxAbsError, 1);
    EXPECT_EQ(off.reason, "1 of 2 elements differ, worst at 1: got 2 instead of 3");
    EXPECT_NE(judge(bytes({1, 2}), bytes({1, 3}), tolerance).reason, "");
    EXPECT_NE(judge(floats({1}), floats({1, 2}), tolerance).reason, "");
    EXPECT_EQ(judge(floats({NAN, INFINITY}), floats({NAN, INFINITY}), tolerance).reason, "");
    EXPECT_NE(judge(floats({1}), floats({NAN}), tolerance).reason, "");
    EXPECT_NE(judge(floats({-INFINITY}), floats({INFINITY}), tolerance).reason, "");
}

TEST(Judge, AllowsOneStepInFewElements)
{
    std::vector<float> wanted(100, 5), got = wanted;
    const StepEffect effect = scaled(wanted, 0.5F);
    const Tolerance tolerance{0, 1e-6};
    got[3] = 5.5F;
    got[7] = 4.5F;
    const Judgement two = judge(floats(got), floats(wanted), tolerance, effect);
    EXPECT_EQ(two.reason, "");
    EXPECT_EQ(two.outside, 2);
    EXPECT_EQ(two.steps, 2);
    EXPECT_EQ(two.mayStep, 2);
    EXPECT_EQ(two.allowed, 0.5);
    got[9] = 5.5F;
    EXPECT_EQ(judge(floats(got), floats(wanted), tolerance, effect).reason,
              "3 of 100 elements are one step of the last quantized tensors off, but at most 2 may "
              "be");
}

TEST(Judge, AllowsNoTwoSteps)
{
    const std::vector<float> wanted(100, 5);
    std::vector<float> got = wanted;
    got[3] = 6;
    const Judgement off = judge(floats(got), floats(wanted), {0, 1e-6}, scaled(wanted, 0.5F));
    EXPECT_EQ(off.steps, 0);
    EXPECT_NE(off.reason.find("more than one step"), std::string::npos) << off.reason;
}

TEST(Judge, CountsIntegersInSteps)
{
    std::vector<int8_t> wanted(50, 7), up(50, 8), down(50, 6), got = wanted;
    const StepEffect effect{
        .exact = bytes(wanted), .moved = {bytes(up), bytes(down)}, .spread = 1, .elements = 50};
    got[0] = 8;
    EXPECT_EQ(judge(bytes(got), bytes(wanted), {}, effect).reason, "");
    got[0] = 9;
    EXPECT_NE(judge(bytes(got), bytes(wanted), {}, effect).reason, "");
    got[0] = 6;
    got[1] = 8;
    EXPECT_NE(judge(bytes(got), bytes(wanted), {}, effect).reason, "") << "more than 2 %";
}

TEST(Judge, LetsAStepSpreadAsFarAsItDoes)
{
    // One moved element changes all ten of these, as a softmax does.
    const std::vector<float> wanted(10, 0.1F);
    std::vector<float> got = wanted;
    for (float& value : got) value += 0.01F;
    StepEffect effect = scaled(wanted, 0.02F);
    EXPECT_NE(judge(floats(got), floats(wanted), {0, 1e-6}, effect).reason, "");
    effect.spread = 10;
    EXPECT_EQ(judge(floats(got), floats(wanted), {0, 1e-6}, effect).reason, "");
}

TEST(Judge, WantsAnIndexThatAStepGives)
{
    const Tensor wanted = Tensor::of<int64_t>(kInt64, {1}, {3});
    const StepEffect effect{.exact = wanted,
                            .moved = {Tensor::of<int64_t>(kInt64, {1}, {9}), wanted},
                            .spread = 1,
                            .elements = 10};
    EXPECT_EQ(judge(Tensor::of<int64_t>(kInt64, {1}, {9}), wanted, {}, effect).reason, "");
    EXPECT_NE(judge(Tensor::of<int64_t>(kInt64, {1}, {6}), wanted, {}, effect).reason, "");
}

TEST(Judge, AllowsIntegersTheStepsThatTheCaseStates)
{
    EXPECT_EQ(judge(bytes({1, 2}), bytes({2, 0}), {.steps = 2}).reason, "");
    EXPECT_NE(judge(bytes({1, 2}), bytes({2, 0}), {.steps = 1}).reason, "");
}

TEST(Judge, LetsAShareOfTheElementsDiffer)
{
    const std::vector<int8_t> wanted(100, 1);
    std::vector<int8_t> got = wanted;
    got[0] = 9;
    EXPECT_EQ(judge(bytes(got), bytes(wanted), {.mayDiffer = 0.01}).reason, "");
    got[1] = 9;
    EXPECT_NE(judge(bytes(got), bytes(wanted), {.mayDiffer = 0.01}).reason, "");
}

TEST(Judge, LimitsTheMeanDifference)
{
    const Tolerance tolerance{.absolute = 1, .meanAbsolute = 0.25};
    EXPECT_EQ(judge(floats({1, 2}), floats({1.5F, 2}), tolerance).reason, "");
    EXPECT_NE(judge(floats({1, 2}), floats({1.5F, 2.5F}), tolerance).reason.find("mean absolute"),
              std::string::npos);
}

} // namespace
} // namespace tenon::cli
