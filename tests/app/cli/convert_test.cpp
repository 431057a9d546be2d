// SPDX-License-Identifier: Apache-2.0
// tenon convert: what it writes computes the same, with everything inside; what cannot be is said.
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using core::Tensor;
using nlohmann::json;
using LiteType = test::TfliteType;

class ConvertCommand : public testing::Test
{
protected:
    std::string path(const std::string& name) const { return m_folder.file(name); }
    void write(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(path(name), std::ios::binary) << bytes;
    }
    /// With the error output.
    Outcome convert(const std::string& arguments) const
    {
        return tenon("convert " + arguments + " 2>&1");
    }
    /// The first result for `x.pb`.
    Tensor resultOf(const std::string& model) const
    {
        const std::string folder = path(model + "-results");
        const Outcome ran = tenon("run " + path(model) + " --inputs " + path("data") +
                                  " --outputs " + folder + " --opt-level 0 2>&1");
        EXPECT_EQ(ran.code, 0) << ran.output;
        const auto read = compiler::readTensorFile(folder + "/output_0.pb");
        return read ? read->tensor : Tensor();
    }
    void writeData(const std::vector<int64_t>& shape) const
    {
        std::filesystem::create_directories(path("data"));
        std::vector<float> values;
        for (int64_t i = 0; i < core::elementCount(shape); ++i)
            values.push_back(static_cast<float>(std::sin(static_cast<double>(i * i) * 0.3)));
        const core::Status done = compiler::writeTensorFile(
            path("data/input_0.pb"), Tensor::of<float>(core::kFloat32, shape, values), "x");
        ASSERT_TRUE(done) << done.error().text();
    }

    test::TemporaryFolder m_folder;
};

/// A convolution over a picture with its channels last.
std::string lite()
{
    test::TfliteWriter w;
    const int x = w.input("x", LiteType::Float32, {1, 6, 6, 3}),
              y = w.output("y", LiteType::Float32, {1, 6, 6, 4});
    std::vector<float> weights;
    for (int i = 0; i < 4 * 3 * 3 * 3; ++i)
        weights.push_back(static_cast<float>(std::cos(i * 1.3) * 0.2));
    w.op("CONV_2D",
         {x, w.constant<float>("w", LiteType::Float32, {4, 3, 3, 3}, weights),
          w.constant<float>("b", LiteType::Float32, {4}, {0.1f, -0.2f, 0.3f, 0.4f})},
         {y}, test::FlatOut().number(0, int8_t{0}).number(1, 1).number(2, 1).number(3, int8_t{1}));
    const std::vector<std::byte> bytes = w.file();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An operator that nobody has heard of.
std::string unknown()
{
    test::TfliteWriter w;
    const int x = w.input("x", LiteType::Float32, {1, 4}),
              y = w.output("y", LiteType::Float32, {1, 4});
    w.op("CUSTOM_OP", {x}, {y});
    const std::vector<std::byte> bytes = w.file();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(ConvertCommand, WritesTensorFlowLiteAsOnnxThatComputesTheSame)
{
    write("net.tflite", lite());
    writeData({1, 6, 6, 3});
    const Outcome out = convert(path("net.tflite") + " -o " + path("net.onnx") + " --json");
    ASSERT_EQ(out.code, 0) << out.output;
    const json report = json::parse(out.output);
    EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("net.onnx")));
    EXPECT_NE(report["operators"].dump().find("Conv"), std::string::npos);
    const Tensor before = resultOf("net.tflite"), after = resultOf("net.onnx");
    ASSERT_EQ(before.shape(), after.shape());
    for (int64_t i = 0; i < before.size(); ++i)
        ASSERT_NEAR(before.as<float>()[static_cast<size_t>(i)],
                    after.as<float>()[static_cast<size_t>(i)], 1e-6)
            << i;
}

TEST_F(ConvertCommand, TakesExternalWeightsSizesAndValuesInside)
{
    std::vector<float> weights(12);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.25f * static_cast<float>(i) - 1;
    write("w.bin", {reinterpret_cast<const char*>(weights.data()), 4 * weights.size()});
    write("m.onnx", test::modelOf("input x float32 n,4\ninput axes int64 1\n"
                                  "external w float32 4,3 location=w.bin\n"
                                  "node MatMul product x,w -> p\n"
                                  "node ReduceSum sum p,axes -> y\noutput y float32 n,1\n")
                        .SerializeAsString());
    writeData({2, 4});
    const Outcome out =
        convert(path("m.onnx") + " -o " + path("whole.onnx") + " --shape n=2 --value axes=1");
    ASSERT_EQ(out.code, 0) << out.output;
    std::filesystem::remove(path("w.bin"));
    const Tensor result = resultOf("whole.onnx");
    ASSERT_EQ(result.shape(), (std::vector<int64_t>{2, 1}));
    const auto x = compiler::readTensorFile(path("data/input_0.pb"));
    ASSERT_TRUE(x);
    for (size_t row = 0; row < 2; ++row) {
        double sum = 0;
        for (size_t i = 0; i < weights.size(); ++i)
            sum += static_cast<double>(x->tensor.as<float>()[4 * row + i / 3] * weights[i]);
        EXPECT_NEAR(result.as<float>()[row], sum, 1e-5);
    }
}

/// A scalar and a row, added; the sum is listed twice.
std::string scalars()
{
    test::TfliteWriter w;
    const int x = w.input("x", LiteType::Float32, {1, 4}), s = w.input("s", LiteType::Float32, {}),
              y = w.output("y", LiteType::Float32, {1, 4});
    w.markOutput(y);
    w.op("ADD", {x, s}, {y}, test::FlatOut().number(0, int8_t{0}));
    const std::vector<std::byte> bytes = w.file();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(ConvertCommand, DeclaresScalarsAndNamesEveryOutputOnce)
{
    write("net.tflite", scalars());
    ASSERT_EQ(convert(path("net.tflite") + " -o " + path("net.onnx")).code, 0);
    tenon_onnx::ModelProto made;
    ASSERT_TRUE(made.ParseFromString(*core::readFile(path("net.onnx"))));
    ASSERT_EQ(made.graph().input_size(), 2);
    EXPECT_TRUE(made.graph().input(1).type().tensor_type().has_shape());
    ASSERT_EQ(made.graph().output_size(), 2);
    EXPECT_NE(made.graph().output(0).name(), made.graph().output(1).name());
    // A value that is given is no input any more.
    ASSERT_EQ(convert(path("net.tflite") + " -o " + path("net.onnx") + " --value s=2.5").code, 0);
    ASSERT_TRUE(made.ParseFromString(*core::readFile(path("net.onnx"))));
    ASSERT_EQ(made.graph().input_size(), 1);
    writeData({1, 4});
    const Tensor result = resultOf("net.onnx");
    const auto x = compiler::readTensorFile(path("data/input_0.pb"));
    ASSERT_TRUE(x && result.size() == 4);
    for (size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(result.as<float>()[i], x->tensor.as<float>()[i] + 2.5f, 1e-6);
}

TEST_F(ConvertCommand, KeepsTheModelsOwnWeights)
{
    const std::vector<float> weights(12, 0.5f);
    write("w.onnx", {reinterpret_cast<const char*>(weights.data()), 4 * weights.size()});
    write("m.onnx", test::modelOf("input x float32 1,4\nexternal w float32 4,3 location=w.onnx\n"
                                  "node MatMul product x,w -> y\noutput y float32 1,3\n")
                        .SerializeAsString());
    const std::string before = *core::readFile(path("w.onnx"));
    for (const std::string& command :
         {std::string("convert "), "quantize --data " + path("m.onnx") + " "}) {
        const Outcome out = tenon(command + path("m.onnx") + " -o " + path("w.onnx") + " 2>&1");
        EXPECT_NE(out.code, 0);
        EXPECT_NE(out.output.find("holds weights of the model"), std::string::npos) << out.output;
    }
    EXPECT_EQ(*core::readFile(path("w.onnx")), before);
}

TEST_F(ConvertCommand, SaysWhatCannotBe)
{
    write("net.tflite", unknown());
    write("m.onnx", test::modelOf("input x float32 1,4\nnode Relu r x -> y\noutput y float32 1,4\n")
                        .SerializeAsString());
    const std::string before = *core::readFile(path("m.onnx"));
    for (const auto& [arguments, words] :
         {std::pair(path("m.onnx") + " -o " + path("m.onnx"), "the model itself"),
          std::pair(path("m.onnx") + " -o " + path("m.so"), "only .onnx"),
          std::pair(path("m.onnx") + " -o " + path("none/m.onnx"), "none"),
          std::pair(path("none.tflite") + " -o " + path("a.onnx"), "none.tflite"),
          std::pair(path("m.onnx") + " -o " + path("a.onnx") + " --shape z=2", "z"),
          std::pair(path("m.onnx") + " -o " + path("a.onnx") + " --value x=1,2", "cannot be fixed"),
          std::pair(path("net.tflite") + " -o " + path("a.onnx"), "CUSTOM_OP")}) {
        const Outcome out = convert(arguments);
        EXPECT_NE(out.code, 0) << arguments;
        EXPECT_NE(out.output.find(words), std::string::npos) << out.output;
        EXPECT_FALSE(std::filesystem::exists(path("a.onnx"))) << arguments;
    }
    EXPECT_EQ(*core::readFile(path("m.onnx")), before);
}

} // namespace
} // namespace tenon::cli
