// SPDX-License-Identifier: Apache-2.0
// A layer with its batch normalization inside computes the same.
#include "compiler/quantize/fold_batch_norm.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/compiler/quantize/evaluating_runner.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr const char* kNorm = "floats v float32 4 = 0.5,2,1,0.25\ninit ws float32 4\n"
                              "init wb float32 4\ninit wm float32 4\n"
                              "node BatchNormalization n c,ws,wb,wm,v -> y epsilon=0.01f\n";

void expectFolded(const std::string& inputs, const std::string& layer,
                  const std::vector<int64_t>& shape, size_t count)
{
    const auto given = test::withRandomWeights(
        test::modelOf("opset 13\n" + inputs + layer + kNorm + "output y float32 *\n"));
    auto folded = given;
    EXPECT_EQ(foldBatchNorms(folded), count);
    EXPECT_EQ(folded.graph().node_size(), given.graph().node_size() - static_cast<int>(count));
    const Tensor x = test::randomTensor(shape, 3);
    const auto expected = test::evaluated(given, {{"x", x}})[0].numbers();
    const auto actual = test::evaluated(folded, {{"x", x}})[0].numbers();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i])));
}

TEST(FoldBatchNorm, GoesIntoConvolutions)
{
    expectFolded("input x float32 1,3,5,5\ninit w float32 4,3,3,3\n", "node Conv l x,w -> c\n",
                 {1, 3, 5, 5}, 1);
    expectFolded("input x float32 1,4,5,5\ninit w float32 4,1,3,3\ninit wl float32 4\n",
                 "node Conv l x,w,wl -> c group=4\n", {1, 4, 5, 5}, 1);
}

TEST(FoldBatchNorm, GoesIntoTransposedConvolutionsOfGroups)
{
    expectFolded("input x float32 1,6,4,4\ninit w float32 6,2,3,3\ninit wl float32 4\n",
                 "node ConvTranspose l x,w,wl -> c group=2\n", {1, 6, 4, 4}, 1);
}

TEST(FoldBatchNorm, GoesIntoDenseLayersEitherWayRound)
{
    expectFolded("input x float32 2,3\ninit w float32 3,4\ninit wl float32 4\n",
                 "node Gemm l x,w,wl -> c\n", {2, 3}, 1);
    expectFolded("input x float32 2,3\ninit w float32 4,3\n", "node Gemm l x,w -> c transB=1\n",
                 {2, 3}, 1);
}

TEST(FoldBatchNorm, GoesIntoLayersWhoseChannelsAreJoined)
{
    const std::string inputs = "input x float32 1,3,5,5\ninit w float32 3,1,3,3\n"
                               "init u float32 1,3,1,1\ninit ul float32 1\n";
    const std::string layers =
        "node Conv k x,w -> a group=3 pads=[1,1,1,1]\nnode Conv l x,u,ul -> b\n";
    expectFolded(inputs, layers + "node Concat j a,b -> c axis=1\n", {1, 3, 5, 5}, 1);
    expectFolded(inputs,
                 layers + "node Concat j a,x,b -> d axis=1\nnode Slice s d,from,to,from -> c\n"
                          "ints from int64 1 = 1\nints to int64 1 = 5\n",
                 {1, 3, 5, 5}, 0);
    expectFolded("input x float32 1,1,5,5\ninit u float32 3,1,1,1\n",
                 "node Conv l x,u -> a\nnode Concat j a,x -> c axis=1\n", {1, 1, 5, 5}, 0);
}

TEST(FoldBatchNorm, LeavesALayerAloneThatOthersRead)
{
    expectFolded("input x float32 1,3,5,5\ninit w float32 4,3,3,3\n",
                 "node Conv l x,w -> c\nnode Relu r c -> z\noutput z float32 *\n", {1, 3, 5, 5}, 0);
}

} // namespace
} // namespace tenon::compiler
