// SPDX-License-Identifier: Apache-2.0
// Equalization leaves what a model computes as it is and evens out its weights.
#include "compiler/quantize/equalize_layers.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/compiler/quantize/evaluating_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Multiplies the weights and biases of a layer's outputs by step^(channel - middle).
void unbalance(tenon_onnx::ModelProto& model, const std::vector<std::string>& names, double step)
{
    for (auto& initializer : *model.mutable_graph()->mutable_initializer()) {
        if (std::find(names.begin(), names.end(), initializer.name()) == names.end()) continue;
        const Tensor value = *tensorOf(initializer);
        const int64_t channels = value.shape()[0], inner = value.size() / channels;
        const Tensor scaled = Tensor::make(kFloat32, value.shape(), [&](std::span<std::byte> out) {
            for (int64_t i = 0; i < value.size(); ++i)
                storeNumber(kFloat32, out, i,
                            value.number(i) *
                                std::pow(step, static_cast<double>(i / inner - channels / 2)));
        });
        const std::string name = initializer.name();
        storeTensor(scaled, name, initializer);
    }
}

Tensor constantOf(const tenon_onnx::ModelProto& model, const std::string& name)
{
    for (const auto& initializer : model.graph().initializer())
        if (initializer.name() == name) return *tensorOf(initializer);
    return {};
}

/// The largest magnitude of every channel of the first axis.
std::vector<double> ranges(const Tensor& weight)
{
    const int64_t channels = weight.shape()[0], inner = weight.size() / channels;
    std::vector<double> out(static_cast<size_t>(channels), 0.0);
    for (int64_t i = 0; i < weight.size(); ++i) {
        double& range = out[static_cast<size_t>(i / inner)];
        range = std::max(range, std::abs(weight.number(i)));
    }
    return out;
}

double spreadOf(const std::vector<double>& ranges)
{
    const auto [least, greatest] = std::minmax_element(ranges.begin(), ranges.end());
    return *greatest / *least;
}

void expectSame(const tenon_onnx::ModelProto& given, const tenon_onnx::ModelProto& equalized,
                const std::vector<int64_t>& shape)
{
    for (uint64_t seed = 1; seed < 4; ++seed) {
        const Tensor x = test::randomTensor(shape, seed);
        const auto expected = test::evaluated(given, {{"x", x}});
        const auto actual = test::evaluated(equalized, {{"x", x}});
        ASSERT_EQ(actual.size(), expected.size());
        const std::vector<double> x1 = expected[0].numbers(), x2 = actual[0].numbers();
        ASSERT_EQ(x1.size(), x2.size());
        double largest = 0;
        for (const double value : x1) largest = std::max(largest, std::abs(value));
        for (size_t i = 0; i < x1.size(); ++i) EXPECT_NEAR(x1[i], x2[i], 3e-7 * largest);
    }
}

constexpr const char* kSeparable =
    "opset 13\ninput x float32 1,3,8,8\ninit w1 float32 6,3,3,3\ninit wb1 float32 6\n"
    "init w2 float32 6,1,3,3\ninit wb2 float32 6\ninit w3 float32 4,6,1,1\ninit wb3 float32 4\n"
    "init w4 float32 5,4\ninit wb4 float32 5\n"
    "node Conv c1 x,w1,wb1 -> a1 pads=[1,1,1,1]\nnode Relu r1 a1 -> b1\n"
    "node Conv c2 b1,w2,wb2 -> a2 pads=[1,1,1,1] group=6\nnode LeakyRelu r2 a2 -> b2 alpha=0.2f\n"
    "node MaxPool p b2 -> b3 kernel_shape=[2,2] strides=[2,2]\n"
    "node Conv c3 b3,w3,wb3 -> a3\nnode Relu r3 a3 -> b4\nnode GlobalAveragePool g b4 -> b5\n"
    "node Flatten f b5 -> b6\nnode Gemm d b6,w4,wb4 -> y transB=1\noutput y float32 *\n";

tenon_onnx::ModelProto separable()
{
    auto model = test::withRandomWeights(test::modelOf(kSeparable));
    unbalance(model, {"w1", "wb1"}, 0.25);
    unbalance(model, {"w2"}, 4);
    return model;
}

TEST(EqualizeLayers, FindsPairsThroughActivationsAndPools)
{
    std::string found;
    for (const LayerPair& pair : equalizedPairs(separable()))
        found += pair.first + "-" + pair.second + ":" + pair.tensor + " ";
    EXPECT_EQ(found, "c1-c2:b1 c2-c3:b2 c3-d:b4 ");
}

TEST(EqualizeLayers, LeavesTheFloatsAsTheyAre)
{
    auto equalized = separable();
    EXPECT_EQ(equalizeLayers(equalized).size(), 3u);
    expectSame(separable(), equalized, {1, 3, 8, 8});
}

TEST(EqualizeLayers, EvensOutTheChannelsOfDepthwiseWeights)
{
    auto model = separable();
    const double before = spreadOf(ranges(constantOf(model, "w2")));
    const auto pairs = equalizeLayers(model);
    EXPECT_GT(before, 500);
    EXPECT_LT(spreadOf(ranges(constantOf(model, "c2/equalized_weight"))), 4);
    EXPECT_LT(spreadOf(ranges(constantOf(model, "c1/equalized_weight"))), 4);
    EXPECT_GT(pairs[0].channels, 3u);
    EXPECT_LT(pairs[0].least, 0.2);
    EXPECT_GT(pairs[0].greatest, 5);
}

TEST(EqualizeLayers, FollowsAFlattenIntoDenseWeightsEitherWayRound)
{
    for (const char* dense : {"init w2 float32 12,5\nnode Gemm d f,w2 -> y\n",
                              "init w2 float32 5,12\nnode Gemm d f,w2 -> y transB=1\n"}) {
        auto model = test::withRandomWeights(test::modelOf(
            std::string("opset 13\ninput x float32 2,2,2,2\ninit w1 float32 3,2,1,1\n"
                        "node Conv c x,w1 -> a\nnode Relu r a -> b\nnode Flatten l b -> f\n") +
            dense + "output y float32 *\n"));
        unbalance(model, {"w1"}, 4);
        const auto given = model;
        ASSERT_EQ(equalizeLayers(model).size(), 1u);
        EXPECT_LT(spreadOf(ranges(constantOf(model, "c/equalized_weight"))), 6);
        expectSame(given, model, {2, 2, 2, 2});
    }
}

TEST(EqualizeLayers, LetsNoChannelGrowBeyondTheLargest)
{
    auto model = separable();
    const auto pairs =
        equalizeLayers(model, {{"b1", {8, 8, 8, 8, 8, 8}}, {"b2", {1, 8, 8, 8, 8, 8}}});
    EXPECT_EQ(pairs[0].least, 1);
    EXPECT_GE(pairs[1].least, 1.0 / 8);
    expectSame(separable(), model, {1, 3, 8, 8});
}

TEST(EqualizeLayers, LeavesAloneWhatOthersRead)
{
    auto read = test::withRandomWeights(test::modelOf(
        "opset 13\ninput x float32 1,2,4,4\ninit w1 float32 2,2,1,1\ninit w2 float32 2,2,1,1\n"
        "node Conv c1 x,w1 -> a\nnode Conv c2 a,w2 -> b\nnode Add s a,b -> y\noutput y float32 "
        "*\n"));
    EXPECT_TRUE(equalizeLayers(read).empty());
}

TEST(EqualizeLayers, KeepsChannelsThatComeNearALimitAsTheyAre)
{
    const auto given = test::withRandomWeights(test::modelOf(
        "opset 13\ninput x float32 1,1,4,4\nfloats k float32 4,1,1,1 = 100,0.01,0.5,0.02\n"
        "init w2 float32 2,4,1,1\nfloats l float32 1 = 0\nfloats h float32 1 = 6\n"
        "node Conv c1 x,k -> a\nnode Clip r a,l,h -> b\nnode Conv c2 b,w2 -> y\n"
        "output y float32 *\n"));
    ASSERT_EQ(equalizedPairs(given).size(), 1u);
    EXPECT_EQ(equalizedPairs(given)[0].limit, 6);
    auto blind = given;
    EXPECT_EQ(equalizeLayers(blind)[0].channels, 0u) << "nothing is known of the data";
    auto model = given;
    const auto pairs = equalizeLayers(model, {{"b", {6, 0.05, 2, 0.1}}});
    EXPECT_EQ(pairs[0].channels, 3u);
    EXPECT_LT(pairs[0].least, 0.5);
    const Tensor weight = constantOf(model, "c1/equalized_weight");
    EXPECT_EQ(weight.number(0), 100);
    EXPECT_LE(weight.number(1) / 0.01 * 0.05, 6 / 1.25 * 1.001);
    expectSame(given, model, {1, 1, 4, 4});
}

} // namespace
} // namespace tenon::compiler
