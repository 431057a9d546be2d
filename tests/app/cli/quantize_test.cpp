// SPDX-License-Identifier: Apache-2.0
// tenon quantize: the file that it writes opens, runs and verifies against the float model; what
// cannot be is said.
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace tenon::cli {
namespace {

using core::Tensor;
using nlohmann::json;

constexpr int64_t kElements = 3 * 8 * 8;

class QuantizeCommand : public ::testing::Test
{
protected:
    void SetUp() override
    {
        std::filesystem::create_directories(m_folder.file("data"));
        for (int i = 0; i < 4; ++i) {
            std::vector<float> values;
            for (int64_t k = 0; k < kElements; ++k)
                values.push_back(
                    static_cast<float>(std::sin(static_cast<double>(k * (i + 2)) * 0.37)));
            write("data/" + std::to_string(i) + ".npy", {1, 3, 8, 8}, values);
        }
        std::string weights;
        for (int i = 0; i < 4 * 3 * 3 * 3; ++i)
            weights += (i > 0 ? "," : "") + std::to_string(std::cos(i * 1.7) * 0.2);
        std::ofstream(m_folder.file("m.onnx"), std::ios::binary)
            << test::modelOf(
                   "opset 12\ninput x float32 1,3,8,8\nfloats w float32 4,3,3,3 = " + weights +
                   "\nnode Conv conv x,w -> a pads=[1,1,1,1]\nnode Relu act a -> b\n"
                   "node Softmax soft b -> c axis=3\nnode Add sum b,c -> y\n"
                   "output y float32 1,4,8,8\n")
                   .SerializeAsString();
    }
    void write(const std::string& name, const std::vector<int64_t>& shape,
               const std::vector<float>& values)
    {
        const core::Status done = compiler::writeTensorFile(
            m_folder.file(name), Tensor::of<float>(core::kFloat32, shape, values), "x");
        ASSERT_TRUE(done) << done.error().text();
    }
    /// With the error output.
    Outcome quantize(const std::string& options = "")
    {
        return tenon("quantize " + m_folder.file("m.onnx") + " --data " + m_folder.file("data") +
                     " -o " + m_folder.file("q.onnx") + " " + options + " 2>&1");
    }
    /// The JSON behind what the error output says of so few examples.
    static std::string reportIn(const std::string& output)
    {
        return output.substr(std::min(output.find("\n{") + 1, output.size()));
    }
    std::vector<double> resultOf(const std::string& model)
    {
        const Outcome ran =
            tenon("run " + m_folder.file(model) + " --inputs " + m_folder.file("data/1.npy") +
                  " --outputs " + m_folder.file("out"));
        EXPECT_EQ(ran.code, 0) << ran.output;
        const auto tensor = compiler::readTensorFile(m_folder.file("out/output_0.npy"));
        EXPECT_TRUE(tensor);
        return tensor ? tensor->tensor.numbers() : std::vector<double>();
    }

    test::TemporaryFolder m_folder;
};

TEST_F(QuantizeCommand, WritesAModelThatRunsAsItsReportSays)
{
    const Outcome made = quantize("--json");
    ASSERT_EQ(made.code, 0) << made.output;
    EXPECT_NE(made.output.find("ranges come from 4 examples only"), std::string::npos);
    const json report = json::parse(reportIn(made.output));
    EXPECT_EQ(report["data_sets"], 4);
    EXPECT_EQ(report["quantized_nodes"], 2);
    EXPECT_EQ(report["opset"], 13);
    ASSERT_EQ(report["float_nodes"].size(), 2u) << report["float_nodes"];
    EXPECT_EQ(report["float_nodes"][0]["node"], "soft");
    EXPECT_GT(report["outputs"][0]["sqnr_db"], 30);

    const std::vector<double> real = resultOf("m.onnx"), rounded = resultOf("q.onnx");
    ASSERT_EQ(real.size(), rounded.size());
    double largest = 0;
    for (size_t i = 0; i < real.size(); ++i)
        largest = std::max(largest, std::abs(real[i] - rounded[i]));
    EXPECT_LE(largest, report["outputs"][0]["largest_error"].get<double>() * 1.01 + 1e-6)
        << "the example is one of those that were measured";
    EXPECT_GT(largest, 0);
    const Outcome passes = tenon("passes --opt-level 3 " + m_folder.file("q.onnx"));
    EXPECT_EQ(tenon("inspect " + m_folder.file("q.onnx")).code, 0);
    EXPECT_EQ(passes.code, 0);
}

TEST_F(QuantizeCommand, TellsTensorsWeightsAndWhatStaysInFloat)
{
    const Outcome made = quantize("-v --method mse --activations uint8 --per-tensor");
    ASSERT_EQ(made.code, 0) << made.output;
    for (const char* said : {"soft (Softmax): there is no integer kernel", "uint8", "measured dB",
                             "opset 12 -> 13", "output y", "largest error"})
        EXPECT_NE(made.output.find(said), std::string::npos) << said << "\n" << made.output;
}

TEST_F(QuantizeCommand, WarnsOfOtherExamplesAndOfNothingToEqualize)
{
    std::filesystem::create_directories(m_folder.file("other"));
    for (int i = 0; i < 4; ++i) {
        std::vector<float> values;
        for (int64_t k = 0; k < kElements; ++k)
            values.push_back(static_cast<float>(5 * std::sin(static_cast<double>(k + i) * 0.71)));
        write("other/" + std::to_string(i) + ".npy", {1, 3, 8, 8}, values);
    }
    const Outcome made = quantize("--equalize --evaluate " + m_folder.file("other"));
    ASSERT_EQ(made.code, 0) << made.output;
    for (const char* said : {"no layers are equalized", "do not represent", "the first one `x`",
                             "-5 to 5 where -1 to 1 was seen, in 100 % of the examples"})
        EXPECT_NE(made.output.find(said), std::string::npos) << said << "\n" << made.output;
    const Outcome nowhere = quantize("--evaluate " + m_folder.file("nowhere"));
    EXPECT_NE(nowhere.code, 0);
    EXPECT_NE(nowhere.output.find("nowhere"), std::string::npos) << nowhere.output;
}

TEST_F(QuantizeCommand, RefusesShapesThatTheModelDoesNotTake)
{
    for (const auto& [shape, said] :
         {std::pair{"nosuch=1,2", "no input or dimension `nosuch`"},
          std::pair{"x=a", "is no binding"}, std::pair{"x=3,6,13,17", "cannot be bound to"},
          std::pair{"x=-1,3,8,8", "is no binding"}}) {
        const Outcome made = quantize(std::string("--shape ") + shape);
        EXPECT_NE(made.code, 0) << shape;
        EXPECT_NE(made.output.find(said), std::string::npos) << shape << "\n" << made.output;
    }
    EXPECT_EQ(quantize("--shape x=1,3,8,8").code, 0);
}

TEST_F(QuantizeCommand, SaysWhatIsWrongWithDataAndModel)
{
    write("data/2.npy", {1, 3, 8, 7}, std::vector<float>(168, 1));
    Outcome made = quantize();
    EXPECT_NE(made.code, 0);
    EXPECT_NE(made.output.find("2.npy"), std::string::npos) << made.output;
    EXPECT_NE(made.output.find("float32 (1, 3, 8, 8)"), std::string::npos) << made.output;
    EXPECT_FALSE(std::filesystem::exists(m_folder.file("q.onnx")));
    std::filesystem::remove(m_folder.file("data/2.npy"));
    made = quantize("--float-node nobody");
    EXPECT_NE(made.output.find("`nobody`"), std::string::npos) << made.output;
    ASSERT_EQ(quantize().code, 0);
    std::filesystem::copy_file(m_folder.file("q.onnx"), m_folder.file("m.onnx"),
                               std::filesystem::copy_options::overwrite_existing);
    made = quantize();
    EXPECT_NE(made.code, 0);
    EXPECT_NE(made.output.find("quantized already"), std::string::npos) << made.output;
    std::ofstream(m_folder.file("m.onnx"), std::ios::binary) << "not a model";
    EXPECT_NE(quantize().code, 0);
}

TEST_F(QuantizeCommand, TellsWhatLayersCostAndWhatTheModelTakes)
{
    const Outcome made = quantize("--sensitivity --json");
    ASSERT_EQ(made.code, 0) << made.output;
    const json report = json::parse(reportIn(made.output));
    const json& precisions = report["precisions"];
    EXPECT_EQ(precisions["place"], "this computer");
    ASSERT_EQ(precisions["layers_by_harm"].size(), 1u);
    const json& layer = precisions["layers_by_harm"][0];
    EXPECT_EQ(layer["layer"], "conv");
    EXPECT_GT(layer["loss_alone"], layer["loss_alone_int16"]);
    EXPECT_GT(layer["time"][0], 0);
    ASSERT_EQ(precisions["curve"].size(), 2u) << "all in 8 bits, and all in float";
    EXPECT_EQ(precisions["curve"][1]["measured"]["loss"], 0);
    for (const json& point : precisions["curve"]) EXPECT_GT(point["measured"]["flash_bytes"], 0);
    for (const char* model : {"before", "after"}) {
        EXPECT_GT(report[model]["flash_bytes"], 0) << model;
        EXPECT_GT(report[model]["ram_bytes"], 0) << model;
        EXPECT_GT(report[model]["time"], 0) << model;
    }
    EXPECT_EQ(report["tensors"][0]["histogram"].size(), 64u);
    const Outcome text = quantize("--sensitivity");
    for (const char* said : {"layers by what they cost the outputs", "mixing: the most harmful",
                             "on this computer", "flash"})
        EXPECT_NE(text.output.find(said), std::string::npos) << said << "\n" << text.output;
}

TEST_F(QuantizeCommand, KnowsTheFormatBeforeItStarts)
{
    const Outcome made = tenon("quantize " + m_folder.file("m.onnx") + " --data " +
                               m_folder.file("data") + " -o " + m_folder.file("m.bogus") + " 2>&1");
    EXPECT_NE(made.code, 0);
    EXPECT_NE(made.output.find("or in .onnx for the model itself"), std::string::npos)
        << made.output;
}

TEST_F(QuantizeCommand, NeverWritesOverItsModel)
{
    const auto bytes = core::readFile(m_folder.file("m.onnx"));
    ASSERT_TRUE(bytes);
    std::filesystem::create_hard_link(m_folder.file("m.onnx"), m_folder.file("q.onnx"));
    const Outcome made = quantize();
    EXPECT_NE(made.code, 0);
    EXPECT_NE(made.output.find("the file to write is the model itself"), std::string::npos)
        << made.output;
    const auto after = core::readFile(m_folder.file("m.onnx"));
    ASSERT_TRUE(after);
    EXPECT_EQ(*after, *bytes);
}

TEST_F(QuantizeCommand, NeedsAFolderToWriteToBeforeItStarts)
{
    const Outcome made =
        tenon("quantize " + m_folder.file("m.onnx") + " --data " + m_folder.file("none") + " -o " +
              m_folder.file("no/q.onnx") + " 2>&1");
    EXPECT_NE(made.code, 0);
    EXPECT_NE(made.output.find("there is no folder `" + m_folder.file("no") + "`"),
              std::string::npos)
        << made.output;
}

TEST_F(QuantizeCommand, KeepsWithinASize)
{
    const Outcome roomy = quantize("--budget-size 100MiB");
    EXPECT_NE(roomy.code, 0);
    EXPECT_NE(roomy.output.find("room for the whole model in float"), std::string::npos)
        << roomy.output;
    const Outcome tight = quantize("--budget-size 10");
    EXPECT_NE(tight.code, 0);
    EXPECT_NE(tight.output.find("that it may"), std::string::npos) << tight.output;
}

/// A recurrent layer of TensorFlow Lite keeps its state from run to run, that of ONNX does not.
TEST_F(QuantizeCommand, WarnsOnceOfStateThatStartsAnew)
{
    test::TfliteWriter w;
    using Type = test::TfliteType;
    const std::vector<float> weights{0.5F, -0.25F, 1, 0.75F, -1, 0.125F, 0.25F, -0.5F, 1};
    const auto matrix = [&](const char* name, std::vector<int32_t> shape) {
        const int64_t count = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
        return w.constant<float>(name, Type::Float32, std::move(shape),
                                 {weights.begin(), weights.begin() + count});
    };
    const int x = w.input("x", Type::Float32, {1, 4, 3}),
              h = w.variable("h", Type::Float32, {1, 3}),
              s = w.tensor("s", Type::Float32, {1, 4, 3}), y = w.output("y", Type::Float32, {4, 3});
    w.op("UNIDIRECTIONAL_SEQUENCE_RNN",
         {x, matrix("in", {3, 3}), matrix("again", {3, 3}), matrix("bias", {3}), h}, {s},
         test::FlatOut().number(1, int8_t{4}));
    w.op("FULLY_CONNECTED", {s, matrix("w", {3, 3}), matrix("b", {3})}, {y});
    const std::vector<std::byte> bytes = w.file();
    std::ofstream(m_folder.file("s.tflite"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    write("x.npy", {1, 4, 3}, {1, 2, -1, 0.5F, 0, 1, -2, 3, 1, 0.25F, -1, 2});
    const std::string command = "quantize " + m_folder.file("s.tflite") + " --data " +
                                m_folder.file("x.npy") + " -o " + m_folder.file("s.onnx");
    for (const char* shape : {"", " --shape x=1,4,3"}) {
        const Outcome made = tenon(command + shape + " 2>&1");
        ASSERT_EQ(made.code, 0) << made.output;
        const size_t at = made.output.find("the state `h` starts anew with every run");
        ASSERT_NE(at, std::string::npos) << made.output;
        EXPECT_EQ(made.output.find("starts anew", at + 30), std::string::npos) << made.output;
    }
    EXPECT_EQ(quantize().output.find("starts anew"), std::string::npos);
}

TEST_F(QuantizeCommand, MakesAnIntegerProgramInOneCommand)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    const Outcome made =
        tenon("quantize " + m_folder.file("m.onnx") + " --data " + m_folder.file("data") +
              " --float-op Softmax --integer-io --target 'c -mcpu=cortex-m4' --json -o " +
              m_folder.file("m.elf"));
    ASSERT_EQ(made.code, 0) << made.output;
    const json report = json::parse(made.output);
    ASSERT_EQ(report["integer_ends"].size(), 2u) << report["integer_ends"];
    EXPECT_EQ(report["after"]["time_unit"], "instructions");
    EXPECT_GT(report["before"]["time"], 0);
    const Outcome ran = tenon("run " + m_folder.file("m.elf") + " --json 2>&1");
    EXPECT_EQ(ran.code, 0) << ran.output;
    const Outcome inspected = tenon("bench " + m_folder.file("m.elf") + " --repeat 1 2>&1");
    EXPECT_EQ(inspected.code, 0) << inspected.output;
}

} // namespace
} // namespace tenon::cli
