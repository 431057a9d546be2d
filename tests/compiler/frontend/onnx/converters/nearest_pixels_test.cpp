// SPDX-License-Identifier: Apache-2.0
// The nearest pixels of a resize against those that ONNX Runtime 1.30 takes.
#include "compiler/frontend/onnx/converters/nearest_pixels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tenon::compiler {
namespace {

struct Taken
{
    std::string transformation, rounding;
    ResampledAxis axis;
    std::map<int64_t, int64_t> sources; ///< of some elements
    bool isExact = false;
};

Resampling nearest(const std::string& transformation, const std::string& rounding)
{
    Resampling how;
    how.method = "nearest";
    how.transformation = transformation;
    how.rounding = rounding;
    return how;
}

TEST(NearestPixels, AreThoseOfBinary32)
{
    const std::vector<Taken> all{
        // Ties of exact arithmetic; 71.5 / 1.3 is a step of binary32 above, 19.5 / 1.3 too little.
        {"half_pixel", "round_prefer_floor", {66, 85, 1.3}, {{6, 4}, {19, 14}, {71, 55}, {84, 64}}},
        {"half_pixel", "round_prefer_ceil", {66, 85, 1.3}, {{6, 5}, {19, 15}, {71, 55}}, true},
        {"half_pixel", "round_prefer_floor", {60, 78, 78.0 / 60}, {{19, 14}, {71, 55}}},
        {"asymmetric", "floor", {66, 79, 1.2}, {{12, 10}, {18, 14}, {78, 65}}},
        {"asymmetric", "round_prefer_ceil", {66, 79, 1.2}, {{9, 8}, {15, 13}, {33, 27}}},
        {"tf_half_pixel_for_nn", "round_prefer_floor", {66, 171, 2.6}, {{19, 7}, {71, 28}}},
        {"asymmetric", kByDirection, {10, 6, 0.6}, {{1, 2}, {2, 4}, {3, 5}}},
        {"asymmetric", kByDirection, {4, 6, 1.5}, {{1, 0}, {2, 1}, {5, 3}}}};
    for (const Taken& each : all) {
        const Resampling how = nearest(each.transformation, each.rounding);
        SCOPED_TRACE(each.transformation + " " + each.rounding);
        const auto pixels = nearestPixels(each.axis, how);
        ASSERT_TRUE(pixels);
        EXPECT_EQ(pixels->isExact, each.isExact);
        ASSERT_EQ(pixels->sources.size(), static_cast<size_t>(each.axis.output));
        for (const auto& [element, source] : each.sources)
            EXPECT_EQ(pixels->sources[static_cast<size_t>(element)], source) << element;
    }
}

TEST(NearestPixels, AreExactOfScalesThatBinary32Holds)
{
    for (const double scale : {0.5, 1.5, 2.0, 2.25, 3.0}) {
        const ResampledAxis axis{64, static_cast<int64_t>(64 * scale), scale};
        for (const char* to : {"half_pixel", "asymmetric", "pytorch_half_pixel"}) {
            const auto pixels = nearestPixels(axis, nearest(to, "round_prefer_floor"));
            ASSERT_TRUE(pixels);
            EXPECT_TRUE(pixels->isExact) << to << " " << scale;
        }
    }
    EXPECT_FALSE(nearestPixels({66, 85, 1.3}, nearest("align_corners", "floor")));
}

} // namespace
} // namespace tenon::compiler
