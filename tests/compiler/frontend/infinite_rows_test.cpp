// SPDX-License-Identifier: Apache-2.0
// Logarithms of sums of exponentials where the largest element of a row is infinite.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::test {
namespace {

using namespace tenon::compiler;

TEST(ReduceLogSumExp, OfInfiniteRowsIsInfinite)
{
    const std::string bytes = modelOf("opset 13\ninput x float32 3,2\n"
                                      "node ReduceLogSumExp n x -> y axes=[1] keepdims=0\n"
                                      "output y float32 3\n")
                                  .SerializeAsString();
    const auto loaded =
        loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Tensor x =
        Tensor::of<float>(kFloat32, {3, 2}, {-kInfinity, -kInfinity, kInfinity, 1, 1000, 1000});
    const auto results = evaluateGraph(loaded->module, {{"x", x}}, JobContext());
    ASSERT_TRUE(results) << results.error().text();
    const Tensor& y = results->front();
    EXPECT_EQ(y.number(0), -kInfinity);
    EXPECT_EQ(y.number(1), kInfinity);
    EXPECT_NEAR(y.number(2), 1000.6931, 1e-3);
}

} // namespace
} // namespace tenon::test
