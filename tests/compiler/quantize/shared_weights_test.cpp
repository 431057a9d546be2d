// SPDX-License-Identifier: Apache-2.0
// Weights that several layers read are in the written file once.
#include "tests/compiler/quantize/quantize_fixture.h"

namespace tenon::compiler {
namespace {

/// Initializers of int8 with more than one axis.
std::vector<std::string> integerMatrices(const QuantizedModel& made)
{
    tenon_onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(made.bytes));
    std::vector<std::string> out;
    for (const auto& tensor : model.graph().initializer())
        if (tensor.data_type() == tenon_onnx::TensorProto::INT8 && tensor.dims_size() > 1)
            out.push_back(tensor.name());
    return out;
}

TEST_F(Quantize, WritesWeightsOnceThatSeveralLayersRead)
{
    model("opset 13\ninput x float32 1,12\ninit w1 float32 12,12\n"
          "node MatMul d1 x,w1 -> a\nnode MatMul d2 a,w1 -> b\nnode MatMul d3 b,w1 -> y\n"
          "output y float32 *\n");
    const auto made = quantize(test::randomData("x", {1, 12}, 8));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(integerMatrices(*made).size(), 1u);
    EXPECT_EQ(made->report.weights.size(), 3u);
    for (const OutputAccount& output : made->report.outputs) EXPECT_GT(output.sqnrDb, 30);
}

TEST_F(Quantize, WritesWeightsForEachReaderThatRoundsThemInItsOwnWay)
{
    model("opset 13\ninput x float32 1,12\ninit w1 float32 12,12\n"
          "node Gemm d1 x,w1 -> a\nnode Gemm d2 a,w1 -> b transB=1\n"
          "node Gemm d3 b,w1 -> y alpha=2f\noutput y float32 *\n");
    const auto made = quantize(test::randomData("x", {1, 12}, 8));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(integerMatrices(*made).size(), 3u);
    for (const OutputAccount& output : made->report.outputs) EXPECT_GT(output.sqnrDb, 30);
}

} // namespace
} // namespace tenon::compiler
