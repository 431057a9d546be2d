// SPDX-License-Identifier: Apache-2.0
// A model under a newer opset computes the same.
#include "compiler/quantize/raise_opset.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/compiler/quantize/evaluating_runner.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct Case
{
    int64_t opset;
    const char* nodes;
    std::vector<int64_t> shape;
};

class RaiseOpset : public ::testing::TestWithParam<Case>
{
};

TEST_P(RaiseOpset, KeepsWhatTheNodesMean)
{
    const Case& one = GetParam();
    std::string dims;
    for (const int64_t dim : one.shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    const auto old = test::modelOf("opset " + std::to_string(one.opset) + "\ninput x float32 " +
                                   dims + "\n" + one.nodes + "output y float32 *\n");
    const Tensor x = test::randomTensor(one.shape, 5);
    const std::vector<Tensor> expected = test::evaluated(old, {{"x", x}});
    for (const int64_t version : {kPerChannelOpset, kWideOpset}) {
        auto raised = old;
        const Status done = raiseOpset(raised, version);
        ASSERT_TRUE(done) << done.error().text();
        EXPECT_EQ(opsetOf(raised), std::max(version, one.opset));
        const std::vector<Tensor> actual = test::evaluated(raised, {{"x", x}});
        ASSERT_EQ(actual.size(), expected.size());
        EXPECT_EQ(actual[0].shape(), expected[0].shape());
        EXPECT_EQ(actual[0].numbers(), expected[0].numbers()) << "opset " << version;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Changes, RaiseOpset,
    ::testing::Values(
        Case{9, "node Clip c x -> y min=-0.5f max=0.7f\n", {2, 3}},
        Case{9, "node Pad p x -> y pads=[0,1,0,2] value=1.5f\n", {2, 3}},
        Case{9, "node Slice s x -> y starts=[1] ends=[3] axes=[1]\n", {2, 4}},
        Case{9, "node TopK t x -> y,i k=2\n", {2, 5}},
        Case{9,
             "floats s float32 4 = 1,1,2,2\nnode Upsample u x,s -> y mode=\"nearest\"\n",
             {1, 2, 3, 3}},
        Case{10,
             "floats s float32 4 = 1,1,2,3\nnode Resize r x,s -> y mode=\"nearest\"\n",
             {1, 2, 3, 3}},
        Case{11, "node Squeeze s x -> y axes=[1]\n", {2, 1, 3}},
        Case{11, "node Unsqueeze s x -> y axes=[0,2]\n", {2, 3}},
        Case{11, "node ReduceSum s x -> y axes=[1] keepdims=0\n", {2, 3}},
        Case{11, "node Split s x -> y,z axis=1 split=[1,2]\n", {2, 3}},
        Case{11, "node Split s x -> y,z axis=1\n", {2, 4}},
        Case{11, "node Softmax s x -> y axis=1\n", {2, 3, 4, 2}},
        Case{11, "node LogSoftmax s x -> y\n", {2, 3}},
        Case{9, "node Dropout d x -> y ratio=0.3f\n", {2, 3}},
        Case{9, "node Dropout d x -> y,mask\n", {2, 3}},
        Case{13, "node ReduceMean s x -> y axes=[1,2] keepdims=1\n", {2, 3, 4}},
        Case{13, "node ReduceMax s x -> y\n", {2, 3}}));

TEST(RaiseOpsetErrors, NamesWhatIsTooOldOrHasNoEqual)
{
    auto old =
        test::modelOf("opset 6\ninput x float32 2\nnode Relu r x -> y\noutput y float32 2\n");
    Status done = raiseOpset(old, kPerChannelOpset);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text().find("opset 6"), std::string::npos) << done.error().text();
    auto changed = test::modelOf(
        "opset 18\ninput x float32 1,4,2,2\nfloats s float32 2 = 1,1\nfloats b float32 2 = 0,0\n"
        "node GroupNormalization g x,s,b -> y num_groups=2\noutput y float32 *\n");
    EXPECT_TRUE(raiseOpset(changed, kPerChannelOpset));
    done = raiseOpset(changed, kWideOpset);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().location.node, "g");
}

} // namespace
} // namespace tenon::compiler
