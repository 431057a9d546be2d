// SPDX-License-Identifier: Apache-2.0
// Which nodes compute with integers, and where something is rounded.
#include "compiler/quantize/quantize_plan.h"
#include "core/base/text.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// "conv relu | x r": names of quantized nodes, then of the rounded tensors ("y=x": with the range
/// of x, "x!": only for nodes that are quantized).
std::string planText(const std::string& nodes, const QuantizeOptions& options = {})
{
    const auto model = test::modelOf("opset 13\ninput x float32 1,4,8,8\ninit w float32 4,4,3,3\n"
                                     "init m float32 8,8\nfloats three float32 1 = 3\n" +
                                     nodes + "output y float32 *\n");
    const FloatGraph graph(model.graph());
    const QuantizePlan plan = planQuantization(graph, options);
    std::vector<std::string> words;
    for (int i = 0; i < graph.nodeCount(); ++i)
        if (plan.nodes[static_cast<size_t>(i)].isQuantized()) words.push_back(graph.node(i).name());
    words.emplace_back("|");
    for (const PlannedTensor& tensor : plan.tensors)
        words.push_back(tensor.name + (tensor.sameAs.empty() ? "" : "=" + tensor.sameAs) +
                        (tensor.isForAll ? "" : "!"));
    return join(words, " ");
}

TEST(QuantizePlan, RoundsNothingBetweenALayerAndItsLimit)
{
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Relu r a -> y\n"), "c r | x! y");
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Clip r a -> y\n"), "c r | x! y");
}

TEST(QuantizePlan, TakesTransposedConvolutionsWithoutGroupsAsLayers)
{
    EXPECT_EQ(planText("node ConvTranspose c x,w -> a\nnode Relu r a -> y\n"), "c r | x! y");
    EXPECT_EQ(planText("node ConvTranspose c x,w -> a strides=[2,2]\nfloats k float32 4,1,1 = "
                       "1,2,3,4\nnode Add b a,k -> y\n"),
              "c b | x! y");
    EXPECT_EQ(planText("node ConvTranspose c x,w -> y group=2\n"), "|");
    EXPECT_EQ(planText("node ConvTranspose c x,w -> y dilations=[2,2]\n"), "|");
}

TEST(QuantizePlan, RoundsBetweenThemWhenOthersReadTheLayer)
{
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Relu r a -> b\nnode Add s a,b -> y\n"),
              "c r s | x! a y")
        << "a + relu(a) is a function of a";
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Relu r a -> b\nnode Conv d a,w -> e\n"
                       "node Conv f b,w -> g\nnode Add s e,g -> y\n"),
              "c r d f s | x! a b e g y");
}

TEST(QuantizePlan, TakesAFunctionOfOneTensorAsOne)
{
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Sigmoid s a -> b\nnode Mul p a,b -> y\n"),
              "c s p | x! a y");
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Add p a,three -> b\nnode Clip q b -> d\n"
                       "node Mul r a,d -> y\n"),
              "c p q r | x! a y");
}

TEST(QuantizePlan, TakesSlopesOfConstants)
{
    const std::string slopes = "floats k float32 4,1,1 = 1,2,3,4\n";
    EXPECT_EQ(
        planText(slopes + "node Conv c x,w -> a\nnode PRelu p a,k -> b\nnode Add s a,b -> y\n"),
        "c p s | x! a b y");
    EXPECT_EQ(planText(slopes + "node Conv c x,w -> a\nnode PRelu p a,k -> y\n"), "c p | x! y")
        << "sums have slopes of their own";
    EXPECT_EQ(planText("floats k float32 8 = 1,2,3,4,5,6,7,8\nnode Conv c x,w -> a\n"
                       "node PRelu p a,k -> y\n"),
              "c p | x! a y")
        << "not those of columns";
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Conv d x,w -> b\nnode PRelu p a,b -> y\n"),
              "c d | x! a b");
}

TEST(QuantizePlan, KeepsTheScaleWhereValuesOnlyMove)
{
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode MaxPool p a -> b kernel_shape=[2,2]\n"
                       "node Flatten f b -> y\n"),
              "c p f | x! a b=a y=a");
}

TEST(QuantizePlan, LeavesWhatIsAmongFloatsAlone)
{
    EXPECT_EQ(planText("node Softmax s x -> a\nnode Relu r a -> b\nnode Transpose t b -> y\n"),
              "|");
    EXPECT_EQ(planText("node Relu r x -> y\n"), "|") << "nobody gains by it";
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Softmax s a -> b\nnode Add d a,b -> y\n"),
              "c | x! a");
}

TEST(QuantizePlan, RoundsTheResultOfAFloatOperatorForLayersOnly)
{
    EXPECT_EQ(planText("node Softmax s x -> a\nnode MatMul c a,m -> b\nnode Add d a,b -> y\n"),
              "c | a! b");
}

TEST(QuantizePlan, TakesTheAdditionBehindAProductAsItsBias)
{
    EXPECT_EQ(planText("floats v float32 8 = 1,2,3,4,5,6,7,8\nnode MatMul c x,m -> a\n"
                       "node Add d a,v -> b\nnode Relu r b -> y\n"),
              "c d r | x! y");
}

TEST(QuantizePlan, LeavesNormsThatAreWrittenOutInFloats)
{
    const std::string norm = "node Conv c x,w -> a\nnode ReduceMean m a -> b axes=[1]\n"
                             "node Sub s a,b -> d\nnode Sqrt q d -> e\nnode Div v d,e -> ";
    EXPECT_EQ(planText(norm + "y\n"), "c | x! a");
    EXPECT_EQ(planText(norm + "f\nnode Add r d,a -> g\nnode Conv k g,w -> h\n"
                              "node Mul n h,f -> y\n"),
              "c m s r k | x! a b d g h")
        << "another layer reads the difference";
}

TEST(QuantizePlan, KeepsInFloatWhatItIsTold)
{
    const std::string nodes = "node Conv c x,w -> a\nnode Conv d a,w -> b\nnode Add s a,b -> y\n";
    EXPECT_EQ(planText(nodes), "c d s | x! a b y");
    QuantizeOptions options;
    options.floatNodes = {"d"};
    EXPECT_EQ(planText(nodes, options), "c | x! a");
    options.floatNodes.clear();
    options.floatOps = {"Add"};
    EXPECT_EQ(planText(nodes, options), "c d | x! a b");
}

TEST(QuantizePlan, HasNoBareExponentials)
{
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Exp e a -> y\n"), "c | x! a");
    EXPECT_EQ(planText("node Conv c x,w -> a\nnode Erf e a -> b\nnode Mul p a,b -> y\n"),
              "c e p | x! a y");
}

} // namespace
} // namespace tenon::compiler
