// SPDX-License-Identifier: Apache-2.0
// What the report calls clipped.
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

TEST_F(Quantize, CountsNoValueAsClippedThatLosesHalfAStepAtTheEnds)
{
    model("opset 13\ninput x float32 1,16\ninit w1 float32 16,16\ninit w2 float32 16,4\n"
          "node MatMul d1 x,w1 -> a\nnode Tanh t a -> b\nnode MatMul d2 b,w2 -> y\n"
          "output y float32 *\n");
    CalibrationData loud = test::randomData("x", {1, 16}, 16);
    for (DataSet& set : loud) {
        std::vector<float> values;
        for (const float value : set.inputs[0].second.as<float>()) values.push_back(value * 40);
        set.inputs[0].second = Tensor::of<float>(kFloat32, {1, 16}, values);
    }
    QuantizeOptions options;
    const auto clipped = [&](const std::string& name) {
        const auto made = quantize(loud, options);
        EXPECT_TRUE(made) << made.error().text();
        for (const TensorAccount& tensor : made->report.tensors)
            if (tensor.name == name) return tensor.clippedShare;
        return -1.0;
    };
    EXPECT_EQ(clipped("b"), 0) << "many are -1, and the range begins at -0.9961";
    options.activations.method = RangeMethod::Percentile;
    options.activations.percentile = 90;
    EXPECT_NEAR(clipped("x"), 0.1, 0.05);
}

} // namespace
} // namespace tenon::compiler
