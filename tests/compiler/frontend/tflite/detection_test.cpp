// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess and the flexbuffer that its options are.
#include "compiler/frontend/tflite/file/flexbuffer.h"
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/compiler/frontend/tflite/operator_run.h"

#include <cmath>

namespace tenon::test {
namespace {

using Type = TfliteType;
using Numbers = std::vector<double>;
std::map<std::string, float> options(bool isRegular)
{
    return {{"max_detections", 3},
            {"max_classes_per_detection", 1},
            {"detections_per_class", 5},
            {"use_regular_nms", isRegular ? 1.0F : 0.0F},
            {"nms_score_threshold", 0.1F},
            {"nms_iou_threshold", 0.5F},
            {"num_classes", 2},
            {"y_scale", 1},
            {"x_scale", 1},
            {"h_scale", 1},
            {"w_scale", 1}};
}

/// Three boxes, the first two over one another; scores of a background and two classes.
std::vector<core::Tensor> detect(bool isRegular)
{
    TfliteWriter w;
    const int boxes = w.input("boxes", Type::Float32, {1, 3, 4});
    const int scores = w.input("scores", Type::Float32, {1, 3, 3});
    const int anchors =
        w.constant<float>("anchors", Type::Float32, {3, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 5, 5, 2, 2});
    std::vector<int32_t> out{
        w.output("where", Type::Float32, {1, 3, 4}), w.output("class", Type::Float32, {1, 3}),
        w.output("score", Type::Float32, {1, 3}), w.output("count", Type::Float32, {1})};
    w.op("TFLite_Detection_PostProcess", {boxes, scores, anchors}, out, {},
         flexMap(options(isRegular)));
    return resultsOf(
        w, {{"boxes", floats({1, 3, 4}, std::vector<float>(12, 0))},
            {"scores", floats({1, 3, 3}, {0, 0.75F, 0.5F, 0, 0.25F, 0.625F, 0, 0.5F, 0.375F})}});
}

TEST(TfliteDetection, KeepsTheBestOfBoxesThatOverlap)
{
    const auto got = detect(false);
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[0].numbers(), (Numbers{0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 0, 0}));
    EXPECT_EQ(got[1].numbers(), (Numbers{0, 0, 0}));
    EXPECT_EQ(got[2].numbers(), (Numbers{0.75, 0.5, 0}));
    EXPECT_EQ(got[3].numbers(), (Numbers{2}));
}

TEST(TfliteDetection, LooksAtEachClassWhereAsked)
{
    const auto got = detect(true);
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[1].numbers(), (Numbers{0, 1, 0}));
    EXPECT_EQ(got[2].numbers(), (Numbers{0.75, 0.625, 0.5}));
    EXPECT_EQ(got[3].numbers(), (Numbers{3}));
}

TEST(TfliteDetection, ReadsAMapOfNumbers)
{
    const FlexBytes bytes = flexMap({{"a", 1.5F}, {"b", -2}});
    const auto got = compiler::flexNumbers(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, (std::map<std::string, double>{{"a", 1.5}, {"b", -2}}));
}

TEST(TfliteDetection, SurvivesDamagedOptions)
{
    const FlexBytes whole = flexMap(options(false));
    for (size_t at = 0; at < whole.size(); ++at)
        for (const int value : {0, 1, 127, 255}) {
            FlexBytes bytes = whole;
            bytes[at] = static_cast<uint8_t>(value);
            const auto raw = std::as_bytes(std::span(bytes));
            compiler::flexNumbers(raw);
            compiler::flexNumbers(raw.subspan(0, at));
        }
}

} // namespace
} // namespace tenon::test
