// SPDX-License-Identifier: Apache-2.0
// What meta.json of a test case allows.
#include "app/cli/verify_tolerance.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

const Tensor kFloats = Tensor::of<float>(kFloat32, {2}, {1, -200});
const Tensor kBytes = Tensor::of<int8_t>(kInt8, {2}, {1, 2});

Tolerance toleranceOf(const std::string& meta, const Tensor& wanted, size_t index = 0)
{
    return toleranceFor(Json::parse(meta), {.index = index}, wanted, {}, {});
}

TEST(VerifyTolerance, FollowsTheLargestElementByDefault)
{
    const Tolerance got = toleranceOf("{}", kFloats);
    EXPECT_DOUBLE_EQ(got.relative, 1e-3);
    EXPECT_DOUBLE_EQ(got.absolute, 2e-3);
    EXPECT_FALSE(got.isStated);
}

TEST(VerifyTolerance, TakesSuggestions)
{
    const Tolerance got = toleranceOf(
        R"({"sets": [{"outputs": [{"suggested_rtol": 0.5, "suggested_atol": 0.25}]}]})", kFloats);
    EXPECT_EQ(got.relative, 0.5);
    EXPECT_EQ(got.absolute, 0.25);
}

TEST(VerifyTolerance, TakesWhatIsStatedOfTheOutput)
{
    const char* meta = R"({"tolerance": [{"output": 0, "kind": "steps", "max_steps": 2},
        {"output": 1, "kind": "float-hybrid", "atol": 0.5, "rtol": 0.25, "mean_abs": 0.125}]})";
    const Tolerance bytes = toleranceOf(meta, kBytes);
    EXPECT_TRUE(bytes.isStated);
    EXPECT_EQ(bytes.steps, 2);
    const Tolerance floats = toleranceOf(meta, kFloats, 1);
    EXPECT_EQ(floats.absolute, 0.5);
    EXPECT_EQ(floats.relative, 0.25);
    EXPECT_EQ(floats.meanAbsolute, 0.125);
}

TEST(VerifyTolerance, WantsIntegersEqualWhereOurRoundingMetThemAll)
{
    const auto steps = [](const std::string& counts) {
        return toleranceOf(R"({"tolerance": [{"output": 0, "kind": "steps", "max_steps": 1}],
            "rounding_check": {"float_half_even_as_xnnpack": )" +
                               counts + "}}",
                           kBytes)
            .steps;
    };
    EXPECT_EQ(steps(R"({"0": 36})"), 0);
    EXPECT_EQ(steps(R"({"0": 35, "1": 1})"), 1);
}

TEST(VerifyTolerance, LeavesTheLastWordToOptions)
{
    const Json meta = Json::parse(R"({"tolerance": [{"output": 0, "kind": "float", "atol": 1}]})");
    EXPECT_EQ(toleranceFor(meta, {}, kFloats, {}, 0.5).absolute, 0.5);
}

TEST(VerifyTolerance, IgnoresWhatItCannotRead)
{
    EXPECT_FALSE(
        toleranceOf(R"({"tolerance": 7, "rounding_check": [], "sets": 1})", kBytes).isStated);
}

} // namespace
} // namespace tenon::cli
