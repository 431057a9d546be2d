// SPDX-License-Identifier: Apache-2.0
// Layers of other precisions than the rest, and what each costs.
#include "compiler/quantize/layer_precisions.h"
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

TEST_F(Quantize, GivesDataOfALayer16Bits)
{
    model(kNetwork);
    QuantizeOptions options;
    options.wideNodes = {"c3"};
    const auto made = quantize(images(), options), narrow = quantize(images());
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_TRUE(narrow);
    EXPECT_EQ(made->report.opset, 21);
    EXPECT_EQ(narrow->report.opset, 13) << "as early as it can be";
    std::map<std::string, DataType> types;
    for (const TensorAccount& tensor : made->report.tensors)
        types[tensor.name] = tensor.range.dtype;
    EXPECT_EQ(types.at("b2"), kInt16) << "what it reads";
    EXPECT_EQ(types.at("a3"), kInt16) << "what it makes";
    EXPECT_EQ(types.at("x"), kInt8);
    EXPECT_EQ(types.at("b6"), kInt8);
    const auto errorOf = [](const QuantizedModel& of, const std::string& name) {
        for (const TensorAccount& tensor : of.report.tensors)
            if (tensor.name == name) return tensor.measuredSqnrDb;
        return 0.0;
    };
    EXPECT_GT(errorOf(*made, "a3"), errorOf(*narrow, "a3"));
    options.floatNodes = {"c3"};
    EXPECT_NE(refusal(images(1), options).find("`c3` cannot stay in float and get 16 bits"),
              std::string::npos);
    options.floatNodes.clear();
    options.wideNodes = {"c9"};
    EXPECT_NE(refusal(images(1), options).find("`c9` to keep in 16 bits"), std::string::npos);
}

TEST_F(Quantize, MeasuresEveryLayerAndTheCurve)
{
    model(kNetwork);
    QuantizeOptions options;
    options.measuresSensitivity = true;
    options.floatNodes = {"c1"};
    const auto made = quantize(images(), options);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_TRUE(made->report.precisions);
    const ChosenPrecisions& chosen = *made->report.precisions;
    ASSERT_EQ(chosen.costs.layers.size(), 4u);
    EXPECT_EQ(chosen.costs.layers[0].layer, "c1");
    EXPECT_EQ(chosen.costs.layers[0].output, "b1") << "behind the limit";
    EXPECT_EQ(chosen.costs.layers[0].pinned, Precision::Float);
    EXPECT_EQ(chosen.choice, (PrecisionChoice{Precision::Float, Precision::Int8, Precision::Int8,
                                              Precision::Int8}));
    for (const LayerCost& layer : chosen.costs.layers) {
        EXPECT_GT(layer.loss[0], 0) << layer.layer;
        EXPECT_GT(layer.loss[1], 0) << layer.layer;
        EXPECT_LT(layer.loss[1], layer.loss[0]) << layer.layer;
    }
    ASSERT_EQ(chosen.curve.size(), 4u);
    ASSERT_TRUE(chosen.curve.front().measured && chosen.curve.back().measured);
    EXPECT_NEAR(chosen.curve.front().measured->loss, shareOf(*made), shareOf(*made) * 1e-3);
    EXPECT_EQ(chosen.curve.back().measured->loss, 0) << "all layers are floats";
    EXPECT_GT(chosen.curve.front().measured->fileBytes, 0);
}

} // namespace
} // namespace tenon::compiler
