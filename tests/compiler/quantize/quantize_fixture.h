// SPDX-License-Identifier: Apache-2.0
// A network to quantize, evaluated without code generation.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/quantize/quantize.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace tenon::compiler {

/// Layers with everything between that has an integer form.
inline constexpr const char* kNetwork =
    "opset 9\ninput x float32 1,3,12,12\n"
    "init w1 float32 8,3,3,3\ninit wb1 float32 8\ninit w2 float32 8,1,3,3\ninit w3 float32 "
    "8,8,1,1\n"
    "floats v float32 8 = 1,2,3,1,2,3,1,2\ninit ws float32 8\ninit wh float32 8\ninit wm float32 "
    "8\n"
    "init w4 float32 8,5\ninit wb4 float32 5\n"
    "node Conv c1 x,w1,wb1 -> a1 pads=[1,1,1,1]\nnode Clip r1 a1 -> b1 min=0f max=6f\n"
    "node Conv c2 b1,w2 -> a2 pads=[1,1,1,1] group=8\n"
    "node BatchNormalization n a2,ws,wh,wm,v -> n2\nnode Relu r2 n2 -> b2\n"
    "node Conv c3 b2,w3 -> a3\nnode Add s a3,b1 -> b3\nnode MaxPool p b3 -> b4 kernel_shape=[2,2] "
    "strides=[2,2]\nnode Sigmoid g b4 -> b5\nnode Mul m b4,b5 -> b6\n"
    "node GlobalAveragePool a b6 -> b7\nnode Flatten f b7 -> b8\n"
    "node Gemm d b8,w4,wb4 -> b9\nnode Softmax o b9 -> y\noutput b9 float32 *\noutput y float32 "
    "*\n";

class Quantize : public ::testing::Test
{
protected:
    void model(const std::string& text)
    {
        std::ofstream(m_folder.file("m.onnx"), std::ios::binary)
            << test::withRandomWeights(test::modelOf(text)).SerializeAsString();
    }
    Result<QuantizedModel> quantize(const CalibrationData& data,
                                    const QuantizeOptions& options = {})
    {
        JobContext job(2);
        return quantizeModel(m_folder.file("m.onnx"), data, options, test::evaluatingRunner(), job);
    }
    /// The message of a quantization that must fail.
    std::string refusal(const CalibrationData& data, const QuantizeOptions& options = {})
    {
        const auto made = quantize(data, options);
        return made ? "it did not fail" : made.error().text();
    }
    static CalibrationData images(size_t count = 8)
    {
        return test::randomData("x", {1, 3, 12, 12}, count);
    }
    /// Operators of the compiled model by name, in front of code generation.
    static std::map<std::string, int> loweredOps(const std::string& bytes)
    {
        const auto kept = std::make_shared<const std::string>(bytes);
        auto loaded = loadOnnxBytes(std::as_bytes(std::span(*kept)), kept, {}, "q.onnx", {});
        EXPECT_TRUE(loaded);
        CompileOptions options;
        options.stopBeforeCodegen = true;
        JobContext job(1);
        const auto result = compile(std::make_shared<const Loaded>(*loaded), options, job);
        EXPECT_TRUE(result) << result.error().text();
        std::map<std::string, int> out;
        for (const PassRecord& pass : (*result)->passes.records)
            if (pass.name == "FakeQuantizationToInteger")
                for (const NodeId id : pass.after.main().order)
                    if (pass.after.node(id).kind == NodeKind::Op) ++out[pass.after.node(id).op];
        return out;
    }

    test::TemporaryFolder m_folder;
};

/// As the limit of a loss counts it.
inline double shareOf(const QuantizedModel& made)
{
    double share = 0;
    for (const OutputAccount& output : made.report.outputs)
        share = std::max(share, std::pow(10, -output.sqnrDb / 20));
    return share;
}

} // namespace tenon::compiler
