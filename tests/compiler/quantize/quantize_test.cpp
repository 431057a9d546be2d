// SPDX-License-Identifier: Apache-2.0
// Whole quantizations: what is written computes with integers, stays near the float model, and
// says so; bad input is named.
#include "tests/compiler/quantize/quantize_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

double lossOf(const QuantizedModel& made) { return made.report.outputs.at(0).sqnrDb; }

TEST_F(Quantize, WritesAModelThatComputesWithIntegers)
{
    model(kNetwork);
    const auto made = quantize(images());
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->report.foldedBatchNorms, 1u);
    EXPECT_EQ(made->report.opset, 13);
    for (const FloatNode& node : made->report.floats) EXPECT_EQ(node.node, "o") << node.reason;
    ASSERT_EQ(made->report.floats.size(), 1u);
    EXPECT_EQ(made->report.floats[0].op, "Softmax");
    EXPECT_GT(lossOf(*made), 25);
    auto ops = loweredOps(made->bytes);
    EXPECT_EQ(ops["qnn.conv2d"], 3);
    EXPECT_EQ(ops["qnn.dense"], 1);
    EXPECT_EQ(ops["qnn.add"], 1);
    for (const char* real : {"nn.conv2d", "nn.dense", "sigmoid", "nn.global_avg_pool2d"})
        EXPECT_EQ(ops[real], 0) << real;
}

TEST_F(Quantize, SaysOfEveryTensorWhatItWasGivenAndWhatItLost)
{
    model(kNetwork);
    const auto made = quantize(images());
    ASSERT_TRUE(made) << made.error().text();
    for (const TensorAccount& tensor : made->report.tensors) {
        EXPECT_GT(tensor.expectedSqnrDb, 20) << tensor.name;
        EXPECT_GT(tensor.measuredSqnrDb, 15) << tensor.name;
        const bool isBeforeSilu = tensor.name == "a3" || tensor.name == "b3" || tensor.name == "b4";
        if (isBeforeSilu)
            EXPECT_GT(tensor.range.least(), -11) << tensor.name << ": not -60";
        else
            EXPECT_LE(tensor.range.least(),
                      tensor.least + 0.5 * static_cast<double>(tensor.range.scale));
        EXPECT_GE(tensor.range.greatest(),
                  tensor.greatest - 0.5 * static_cast<double>(tensor.range.scale));
    }
    const TensorAccount& input = made->report.tensors.front();
    EXPECT_EQ(input.name, "x");
    EXPECT_NEAR(input.expectedSqnrDb, input.measuredSqnrDb, 0.3) << "nothing is before it";
    ASSERT_EQ(made->report.weights.size(), 4u);
    EXPECT_EQ(made->report.weights[0].channels, 8u);
}

TEST_F(Quantize, TakesEveryMethodTypeAndSymmetry)
{
    model(kNetwork);
    for (const RangeMethod method :
         {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse})
        for (const DataType dtype : {kInt8, kUInt8})
            for (const bool isSymmetric : {false, true}) {
                QuantizeOptions options;
                options.activations = {method, 99.99, dtype, isSymmetric};
                const auto made = quantize(images(4), options);
                ASSERT_TRUE(made) << made.error().text();
                EXPECT_GT(lossOf(*made), 15)
                    << nameOf(method) << " " << dtype.text() << " " << isSymmetric;
            }
}

TEST_F(Quantize, LosesLessWithWiderActivationsAndScalesPerChannel)
{
    model(kNetwork);
    QuantizeOptions options;
    const auto plain = quantize(images(), options);
    options.activations.dtype = kInt16;
    const auto wide = quantize(images(), options);
    ASSERT_TRUE(wide) << wide.error().text();
    EXPECT_EQ(wide->report.opset, 21);
    EXPECT_GT(lossOf(*wide), lossOf(*plain) + 3);
    options.activations.dtype = kInt8;
    options.isPerChannel = false;
    const auto perTensor = quantize(images(), options);
    ASSERT_TRUE(perTensor);
    EXPECT_EQ(perTensor->report.weights[0].channels, 1u);
    EXPECT_LT(perTensor->report.weights[1].sqnrDb, plain->report.weights[1].sqnrDb);
}

/// Images whose values have a mean of 3.
CalibrationData brightImages()
{
    CalibrationData data = test::randomData("x", {1, 16, 4, 4}, 4);
    for (DataSet& set : data) {
        std::vector<float> values;
        for (const double value : set.inputs[0].second.numbers())
            values.push_back(static_cast<float>(value + 3));
        set.inputs[0].second = Tensor::of<float>(kFloat32, {1, 16, 4, 4}, values);
    }
    return data;
}

/// All weights but two lie between two steps on the same side: rounding takes a quarter step from
/// each.
std::string weightsBetweenSteps(int count)
{
    std::string weights = "0,1.27";
    for (int i = 2; i < count; ++i) weights += ",0.0525";
    return weights;
}

TEST_F(Quantize, TakesAShareOfTheMeanErrorWhereStepsShareTaps)
{
    model("opset 13\ninput x float32 1,16,4,4\nfloats k float32 16,2,2,2 = " +
          weightsBetweenSteps(128) +
          "\nnode ConvTranspose c x,k -> y strides=[2,2]\noutput y float32 *\n");
    QuantizeOptions options;
    options.isPerChannel = false;
    const auto plain = quantize(brightImages(), options);
    options.correctsBias = true;
    const auto corrected = quantize(brightImages(), options);
    ASSERT_TRUE(plain && corrected);
    EXPECT_GT(lossOf(*corrected), lossOf(*plain) + 6);
}

TEST_F(Quantize, TakesTheMeanErrorOfWeightsIntoTheBias)
{
    model("opset 13\ninput x float32 1,16,4,4\nfloats k float32 2,16,1,1 = " +
          weightsBetweenSteps(32) + "\nnode Conv c x,k -> y\noutput y float32 *\n");
    const CalibrationData data = brightImages();
    QuantizeOptions options;
    options.isPerChannel = false;
    const auto plain = quantize(data, options);
    options.correctsBias = true;
    const auto corrected = quantize(data, options);
    ASSERT_TRUE(plain && corrected);
    EXPECT_GT(lossOf(*corrected), lossOf(*plain) + 6);
}

TEST_F(Quantize, EqualizesLayersWhoseScaleIsOneForAllWeights)
{
    // Channels of the depthwise weights differ by 4^3; the layer before makes up for it.
    model("opset 13\ninput x float32 1,1,6,6\nfloats k1 float32 4,1,1,1 = 1.28,-0.32,0.08,0.02\n"
          "floats k2 float32 4,1,3,3 = 0.01,0.02,-0.01,0.02,0.03,0.01,0.02,-0.02,0.01,"
          "0.04,0.08,-0.04,0.08,0.12,0.04,0.08,-0.08,0.04,"
          "0.16,0.32,-0.16,0.32,0.48,0.16,0.32,-0.32,0.16,"
          "0.64,1.28,-0.64,1.28,1.92,0.64,1.28,-1.28,0.64\ninit w3 float32 4,4,1,1\n"
          "node Conv c1 x,k1 -> a pads=[0,0,0,0]\nnode Relu r a -> b\n"
          "node Conv c2 b,k2 -> c group=4\nnode Conv c3 c,w3 -> y\noutput y float32 *\n");
    const auto data = test::randomData("x", {1, 1, 6, 6}, 8);
    QuantizeOptions options;
    options.isPerChannel = false;
    const auto plain = quantize(data, options);
    options.equalizes = true;
    const auto equalized = quantize(data, options);
    ASSERT_TRUE(plain && equalized);
    EXPECT_TRUE(plain->report.equalized.empty());
    ASSERT_EQ(equalized->report.equalized.size(), 2u);
    EXPECT_EQ(equalized->report.equalized[0].second, "c2");
    EXPECT_GT(equalized->report.weights[1].sqnrDb, plain->report.weights[1].sqnrDb);
    EXPECT_GT(lossOf(*equalized), lossOf(*plain) + 6);
}

TEST_F(Quantize, SaysWhyThereIsNothingToEqualize)
{
    model("opset 13\ninput x float32 1,2,4,4\ninit w1 float32 2,2,1,1\ninit w2 float32 2,2,1,1\n"
          "node Conv c1 x,w1 -> a\nnode Sigmoid s a -> b\nnode Conv c2 b,w2 -> y\n"
          "output y float32 *\n");
    QuantizeOptions options;
    options.equalizes = true;
    const auto made = quantize(test::randomData("x", {1, 2, 4, 4}, 2), options);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_EQ(made->report.remarks.size(), 2u);
    EXPECT_NE(made->report.remarks[0].message.find("no layers are equalized"), std::string::npos);
    EXPECT_NE(made->report.remarks[1].message.find("2 examples only"), std::string::npos);
}

TEST_F(Quantize, WarnsOfCalibrationThatDoesNotRepresentWhatIsMeasured)
{
    model(kNetwork);
    QuantizeOptions options;
    options.evaluation = images(40);
    options.evaluation.erase(options.evaluation.begin(), options.evaluation.begin() + 30);
    const auto alike = quantize(images(30), options);
    ASSERT_TRUE(alike) << alike.error().text();
    EXPECT_TRUE(alike->report.remarks.empty()) << alike->report.remarks[0].message;
    EXPECT_EQ(alike->report.measuredSets, 10u);
    for (DataSet& set : options.evaluation) {
        std::vector<float> louder;
        for (const double value : set.inputs[0].second.numbers())
            louder.push_back(static_cast<float>(value * 2));
        set.inputs[0].second = Tensor::of<float>(kFloat32, {1, 3, 12, 12}, louder);
    }
    const auto unlike = quantize(images(30), options);
    ASSERT_TRUE(unlike) << unlike.error().text();
    ASSERT_EQ(unlike->report.remarks.size(), 1u);
    const std::string& said = unlike->report.remarks[0].message;
    EXPECT_NE(said.find("do not represent"), std::string::npos) << said;
    EXPECT_NE(said.find("the first one `x`"), std::string::npos) << said;
    EXPECT_GT(unlike->report.tensors[0].exceedingShare, 0.9);
    EXPECT_GT(unlike->report.tensors[0].measuredGreatest, unlike->report.tensors[0].greatest * 1.4);
}

TEST_F(Quantize, KeepsABiasThatIsLargeBesideItsWeights)
{
    model("opset 13\ninput x float32 1,2,4,4\nfloats k float32 2,2,1,1 = 1e-9,1e-9,0,0\n"
          "floats b float32 2 = 50,-3\nnode Conv c x,k,b -> y\noutput y float32 *\n");
    const auto made = quantize(test::randomData("x", {1, 2, 4, 4}, 4));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_GT(lossOf(*made), 40);
}

TEST_F(Quantize, RefusesDataThatSayNothingOrDoNotFit)
{
    model(kNetwork);
    CalibrationData flat = images(2);
    for (DataSet& set : flat)
        set.inputs[0].second =
            Tensor::of<float>(kFloat32, {1, 3, 12, 12}, std::vector<float>(432, 1));
    EXPECT_NE(refusal(flat).find("`x` are the number 1"), std::string::npos) << refusal(flat);
    const auto small = test::randomData("x", {1, 3, 4, 12}, 2);
    EXPECT_NE(refusal(small).find("float32 (1, 3, 12, 12)"), std::string::npos) << refusal(small);
    CalibrationData integers = images(1);
    integers[0].inputs[0].second =
        Tensor::of<int32_t>(kInt32, {1, 3, 12, 12}, std::vector<int32_t>(432, 1));
    EXPECT_NE(refusal(integers).find("int32"), std::string::npos) << refusal(integers);
    EXPECT_NE(refusal(test::randomData("z", {1, 3, 12, 12}, 1)).find("`x`"), std::string::npos);
    EXPECT_NE(refusal({}).find("no data"), std::string::npos);
    CalibrationData bad = images(2);
    std::vector<float> values(432, 1);
    values[7] = std::numeric_limits<float>::quiet_NaN();
    bad[1].inputs[0].second = Tensor::of<float>(kFloat32, {1, 3, 12, 12}, values);
    EXPECT_NE(refusal(bad).find("set 1"), std::string::npos) << refusal(bad);
}

TEST_F(Quantize, NamesTheNodeThatGivesNan)
{
    model("opset 13\ninput x float32 1,2,4,4\ninit w float32 2,2,1,1\nnode Log broken x -> a\n"
          "node Conv c a,w -> y\noutput y float32 *\n");
    const std::string said = refusal(test::randomData("x", {1, 2, 4, 4}, 1));
    EXPECT_NE(said.find("broken"), std::string::npos) << said;
    EXPECT_NE(said.find("NaN"), std::string::npos) << said;
}

TEST_F(Quantize, RefusesModelsThatAreQuantizedOrHaveNothingToQuantize)
{
    model("opset 13\ninput x float32 4\nfloats s float32 1 = 0.5\nnode QuantizeLinear q x,s -> a\n"
          "node DequantizeLinear d a,s -> y\noutput y float32 *\n");
    const auto data = test::randomData("x", {4}, 1);
    EXPECT_NE(refusal(data).find("quantized already"), std::string::npos) << refusal(data);
    model("opset 13\ninput x float32 4\nnode Softmax s x -> y\noutput y float32 *\n");
    EXPECT_NE(refusal(data).find("there is no integer kernel for Softmax"), std::string::npos)
        << refusal(data);
}

TEST_F(Quantize, SaysOfHalvesWhyNothingIsQuantized)
{
    auto halves = test::modelOf("opset 13\ninput x float32 1,4\nnode Cast c x -> h to=10\n"
                                "node Add a h,w -> b\nnode Cast d b -> y to=1\n"
                                "output y float32 *\n");
    auto& weights = *halves.mutable_graph()->add_initializer();
    weights.set_name("w");
    weights.set_data_type(tenon_onnx::TensorProto::FLOAT16);
    weights.add_dims(1);
    weights.set_raw_data(std::string("\0\x3c", 2));
    std::ofstream(m_folder.file("m.onnx"), std::ios::binary) << halves.SerializeAsString();
    const std::string said = refusal(test::randomData("x", {1, 4}, 1));
    EXPECT_NE(said.find("convert it to float32"), std::string::npos) << said;
}

TEST_F(Quantize, KeepsTheMostHarmfulLayersInFloatUntilTheLossIsSmallEnough)
{
    model(kNetwork);
    const auto all = quantize(images());
    ASSERT_TRUE(all) << all.error().text();
    QuantizeOptions options;
    options.limits.loss = shareOf(*all) * 0.999;
    const auto ranked = quantize(images(), options);
    ASSERT_TRUE(ranked) << ranked.error().text();
    ASSERT_TRUE(ranked->report.precisions);
    const PrecisionCosts& costs = ranked->report.precisions->costs;
    const double least = costs.layers[byHarm(costs).back()].loss[0];
    ASSERT_LT(least, shareOf(*all)) << "one layer costs less than all";
    options.limits.loss = std::sqrt(least * shareOf(*all));
    const auto some = quantize(images(), options);
    ASSERT_TRUE(some) << some.error().text();
    EXPECT_LE(shareOf(*some), options.limits.loss * 1.001);
    const ChosenPrecisions& chosen = *some->report.precisions;
    const std::vector<size_t> order = byHarm(chosen.costs);
    ASSERT_EQ(order.size(), 4u);
    size_t floats = 0;
    for (size_t i = 0; i < 4; ++i) {
        const bool isFloat = chosen.choice[order[i]] == Precision::Float;
        if (i > 0) {
            const auto& layers = chosen.costs.layers;
            EXPECT_LE(layers[order[i]].loss[0], layers[order[i - 1]].loss[0]);
        }
        EXPECT_EQ(isFloat, i < (floats += isFloat)) << "the first ones";
    }
    EXPECT_GE(floats, 1u);
    EXPECT_LT(floats, 4u);
    EXPECT_GT(loweredOps(some->bytes)["qnn.conv2d"], 0);
    options.limits.loss = 1e-9;
    EXPECT_NE(refusal(images(2), options).find("no layer can be quantized"), std::string::npos);
    options.limits.loss = 0.9;
    const auto loose = quantize(images(2), options);
    ASSERT_TRUE(loose);
    EXPECT_EQ(loose->report.floats.size(), 1u) << "nothing but the softmax";
}

TEST_F(Quantize, KnowsTheNodesThatItIsToLeaveAlone)
{
    model(kNetwork);
    QuantizeOptions options;
    options.floatNodes = {"c3"};
    const auto made = quantize(images(2), options);
    ASSERT_TRUE(made) << made.error().text();
    auto ops = loweredOps(made->bytes);
    EXPECT_EQ(ops["qnn.conv2d"], 2);
    options.floatNodes = {"c9"};
    EXPECT_NE(refusal(images(1), options).find("`c9`"), std::string::npos);
    options.floatNodes.clear();
    options.floatOps = {"LSTM"};
    EXPECT_NE(refusal(images(1), options).find("`LSTM`"), std::string::npos);
}

TEST_F(Quantize, SaysThatLayersInBranchesStayFloat)
{
    model("opset 13\ninput c bool ()\ninput x float32 1,4\ninit w1 float32 4,4\n"
          "graph then\nnode MatMul d1 x,w1 -> a\nnode MatMul d2 a,w1 -> b\n"
          "output b float32 1,4\nend\n"
          "graph else\nnode Relu r x -> e\noutput e float32 1,4\nend\n"
          "node If choose c -> y then_branch=g:then else_branch=g:else\noutput y float32 1,4\n");
    CalibrationData data = test::randomData("x", {1, 4}, 2);
    for (DataSet& set : data)
        set.inputs.emplace_back(
            "c", Tensor::make(kBool, {}, [](std::span<std::byte> out) { out[0] = std::byte{1}; }));
    const std::string said = refusal(data);
    EXPECT_NE(said.find("no operator of the model can compute with integers"), std::string::npos)
        << said;
    EXPECT_NE(said.find("2 layers lie inside its branches, where everything stays in float"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("'choose' (If)"), std::string::npos) << said;
}

} // namespace
} // namespace tenon::compiler
