// SPDX-License-Identifier: Apache-2.0
// Cubic curves through pictures whose border pixels go on beyond them.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

using namespace tenon::compiler;

TEST(GridSample, ReadsACubicCurveBeyondTheBorderWhereItIsAsked)
{
    const std::string bytes =
        modelOf("opset 16\ninput x float32 1,1,1,4\ninput g float32 1,1,2,2\n"
                "node GridSample s x,g -> y mode=\"bicubic\" padding_mode=\"border\" "
                "align_corners=1\noutput y float32 1,1,1,2\n")
            .SerializeAsString();
    const auto loaded =
        loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    const Tensor x = Tensor::of<float>(kFloat32, {1, 1, 1, 4}, {0, 1, 3, 7});
    // Columns 3.5 and 2.5.
    const Tensor g =
        Tensor::of<float>(kFloat32, {1, 1, 2, 2}, {3.5F * 2 / 3 - 1, 0, 2.5F * 2 / 3 - 1, 0});
    const auto results = evaluateGraph(loaded->module, {{"x", x}, {"g", g}}, JobContext());
    ASSERT_TRUE(results) << results.error().text();
    // Keys' weights half-way are -0.09375, 0.59375, 0.59375 and -0.09375: of 3, 7, 7, 7 beyond the
    // border, of 1, 3, 7, 7 before it.
    EXPECT_NEAR(results->front().number(0), 7.375, 1e-5);
    EXPECT_NEAR(results->front().number(1), 5.1875, 1e-5);
}

} // namespace
} // namespace tenon::test
