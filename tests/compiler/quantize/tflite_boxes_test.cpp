// SPDX-License-Identifier: Apache-2.0
// Detections as nodes of ONNX: what is rounded of them, and what cannot be. What they compute only
// a compiled model shows: tests/app/cli/boxes_test.cpp.
#include "compiler/quantize/quantize_plan.h"
#include "compiler/quantize/tflite_document.h"
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

using test::FlatOut;
using test::TfliteWriter;
using Type = test::TfliteType;

/// A layer of boxes and one of scores in front of the operator.
TfliteWriter detector(bool isRegular, const std::vector<int32_t>& where)
{
    TfliteWriter w;
    const auto layer = [&](const std::string& name, int from, int32_t channels) {
        const int made = w.tensor(name, Type::Float32, {1, 6, channels});
        std::vector<float> weight(static_cast<size_t>(4 * channels), 0.5F);
        w.op("FULLY_CONNECTED",
             {from, w.constant<float>(name + "/w", Type::Float32, {channels, 4}, weight), -1},
             {made}, FlatOut().number(2, uint8_t{1}));
        return made;
    };
    const int x = w.input("x", Type::Float32, {1, 6, 4});
    const int boxes = layer("boxes", x, 4), scores = layer("scores", x, 3);
    const int anchors =
        w.constant<float>("anchors", Type::Float32, {6, 4}, std::vector<float>(24, 1));
    const std::vector<int32_t> out{
        w.output("where", Type::Float32, where), w.output("class", Type::Float32, {1, 5}),
        w.output("score", Type::Float32, {1, 5}), w.output("count", Type::Float32, {1})};
    w.op("TFLite_Detection_PostProcess", {boxes, scores, anchors}, out, {},
         test::flexMap({{"max_detections", 5},
                        {"num_classes", 2},
                        {"use_regular_nms", isRegular ? 1.0F : 0.0F},
                        {"nms_score_threshold", 0.1F}}));
    return w;
}

/// Corners in 8 bits would be off by many pixels.
TEST(TfliteBoxes, CornersStayFloats)
{
    for (const bool isRegular : {false, true}) {
        const auto made = readTfliteDocument(detector(isRegular, {1, 5, 4}).file(), "m.tflite");
        ASSERT_TRUE(made) << made.error().text();
        const FloatGraph graph(made->graph());
        const QuantizePlan plan = planQuantization(graph, {});
        int layers = 0;
        for (int i = 0; i < graph.nodeCount(); ++i) {
            const PlannedNode& node = plan.nodes[static_cast<size_t>(i)];
            layers += node.role == NodeRole::Layer;
            const bool isMoved = node.role == NodeRole::Moving;
            EXPECT_TRUE(node.role == NodeRole::Layer || isMoved || !node.isQuantized())
                << graph.node(i).name();
            if (isMoved)
                EXPECT_EQ(graph.node(i).output(0).find("corners"), std::string::npos)
                    << graph.node(i).output(0);
        }
        EXPECT_EQ(layers, 2);
    }
}

TEST(TfliteBoxes, ResultsHaveTheSizesOfTheOptions)
{
    const std::string refusal = test::refusalOf(detector(false, {1, 7, 4}));
    EXPECT_NE(refusal.find("declared with other shapes than its options say"), std::string::npos)
        << refusal;
    const auto made = readTfliteDocument(detector(false, {}).file(), "m.tflite");
    ASSERT_TRUE(made) << made.error().text();
    const auto& shape = made->graph().output(0).type().tensor_type().shape();
    ASSERT_EQ(shape.dim_size(), 3);
    EXPECT_EQ(shape.dim(1).dim_value(), 5);
}

TEST(TfliteBoxes, SoftSuppressionIsNamed)
{
    TfliteWriter w;
    w.op("NON_MAX_SUPPRESSION_V5",
         {w.input("boxes", Type::Float32, {3, 4}), w.input("scores", Type::Float32, {3}),
          w.constant<int32_t>("most", Type::Int32, {}, {4}),
          w.constant<float>("overlap", Type::Float32, {}, {0.5F}),
          w.constant<float>("least", Type::Float32, {}, {0.1F}),
          w.constant<float>("sigma", Type::Float32, {}, {0.5F})},
         {w.output("chosen", Type::Int32, {4}), w.output("kept", Type::Float32, {4}),
          w.output("count", Type::Int32, {})});
    const std::string refusal = test::refusalOf(w);
    EXPECT_NE(refusal.find("soft suppression is not supported; its sigma must be 0"),
              std::string::npos)
        << refusal;
}

} // namespace
} // namespace tenon::compiler
