// SPDX-License-Identifier: Apache-2.0
// What rounding alone moves: the same sums from either end.
#include "compiler/compare/reversed_sums.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

std::shared_ptr<const Loaded> modelFrom(const std::string& text)
{
    return test::modelFrom(test::modelOf(text).SerializeAsString());
}

/// The comparison of the model at level 0 with itself from the end.
Comparison noiseOf(const std::shared_ptr<const Loaded>& model)
{
    CompareRequest request = test::requestFor(model, test::seeded(*model));
    request.noise = NoiseSources{{}, reversedReference(*model, CompileOptions(), test::runHere())};
    JobContext job(2);
    auto out = compareTensors(request, job);
    CHECK(out) << out.error().text();
    return std::move(*out);
}

/// The tensor of the model that the layer gives.
const ComparedTensor& layerOf(const Comparison& comparison)
{
    const auto known = std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                                    [](const ComparedTensor& tensor) { return !!tensor.noise; });
    CHECK(known != comparison.tensors.end()) << "no tensor is the model's";
    return *known;
}

/// Every kind of layer that sums over an axis of two factors, as text: inputs and the node.
class SumOfLayer : public testing::TestWithParam<std::pair<const char*, const char*>>
{
};

TEST_P(SumOfLayer, IsTheSameNumberInAnotherOrder)
{
    const auto model = modelFrom(GetParam().second);
    EXPECT_GT(reversedSums(model->module).main().order.size(), model->module.main().order.size());
    const Comparison out = noiseOf(model);
    const TensorError& noise = *layerOf(out).noise;
    EXPECT_GT(noise.sqnrDb, 120) << "another number";
    EXPECT_LT(noise.sqnrDb, 200) << "nothing was turned";
    EXPECT_FALSE(noise.isOutside);
}

INSTANTIATE_TEST_SUITE_P(
    All, SumOfLayer,
    testing::Values(std::pair("conv",
                              "input x float32 1,24,9,9\ninput w float32 8,24,3,3\n"
                              "node Conv c x,w -> y pads=[1,1,1,1]\noutput y float32 1,8,9,9\n"),
                    std::pair("grouped",
                              "input x float32 1,24,9,9\ninput w float32 8,12,3,3\n"
                              "node Conv c x,w -> y group=2\noutput y float32 1,8,7,7\n"),
                    std::pair("volume", "input x float32 1,12,5,5,5\ninput w float32 8,12,3,3,3\n"
                                        "node Conv c x,w -> y\noutput y float32 1,8,3,3,3\n"),
                    std::pair("transposed",
                              "input x float32 1,24,5,5\ninput w float32 24,4,3,3\n"
                              "node ConvTranspose c x,w -> y group=2\noutput y float32 1,8,7,7\n"),
                    std::pair("dense", "input x float32 3,64\ninput w float32 8,64\n"
                                       "node Gemm c x,w -> y transB=1\noutput y float32 3,8\n"),
                    std::pair("product", "input x float32 2,5,64\ninput w float32 2,64,8\n"
                                         "node MatMul c x,w -> y\noutput y float32 2,5,8\n")),
    [](const auto& cell) { return cell.param.first; });

TEST(Noise, IsNoneWhereNothingIsSummedOverChannels)
{
    const auto model = modelFrom("input x float32 1,8,9,9\ninput w float32 8,1,3,3\n"
                                 "node Conv c x,w -> y group=8\noutput y float32 1,8,7,7\n");
    EXPECT_EQ(reversedSums(model->module).main().order, model->module.main().order);
    const Comparison out = noiseOf(model);
    ComparedTensor off = layerOf(out);
    EXPECT_EQ(off.noise->maxAbs, 0);
    off.cumulative.sqnrDb = 20;
    EXPECT_FALSE(off.isNoise()) << "an exact reference explains no difference";
    off.noise->sqnrDb = 25;
    EXPECT_TRUE(off.isNoise()) << "half as far is about as far";
}

TEST(Noise, OfStepsTellsHowManyElementsRoundingMoves)
{
    const std::vector<double> fits(4, 0.02);
    const auto model = modelFrom(test::convolutions(fits));
    const Comparison out = noiseOf(model);
    const auto share = out.noiseShare();
    ASSERT_TRUE(share);
    EXPECT_GT(share->elements, 0);
    EXPECT_EQ(share->device, 0);
    EXPECT_EQ(share->noise, 0);
}

} // namespace
} // namespace tenon::compiler
