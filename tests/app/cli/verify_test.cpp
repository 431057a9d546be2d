// SPDX-License-Identifier: Apache-2.0
// verify on quantized models whose reference is moved by steps: what one explains and what not.
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

constexpr int kOutputs = 64;
/// Steps of 0.5 after a sum; the tail makes 1.5 of them.
constexpr const char* kSum = "init w float32 16,64\nfloats s float32 1 = 0.5\nfloats k float32 1 = "
                             "3\nnode MatMul m x,w -> a\nnode QuantizeLinear q a,s -> b\n"
                             "node DequantizeLinear d b,s -> c\nnode Mul t c,k -> y\n";
/// The same tail after nothing but an exact operator.
constexpr const char* kExact = "floats s float32 1 = 0.5\nfloats k float32 1 = 3\n"
                               "node Relu m x -> a\nnode QuantizeLinear q a,s -> b\n"
                               "node DequantizeLinear d b,s -> c\nnode Mul t c,k -> y\n";

class Verify : public ::testing::Test
{
protected:
    void write(const std::string& name, const std::string& content)
    {
        const std::filesystem::path path = m_folder.file(name);
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
    }
    static tenon_onnx::TensorProto tensor(const std::string& name, const std::vector<float>& values)
    {
        tenon_onnx::TensorProto out;
        out.set_name(name);
        out.set_data_type(tenon_onnx::TensorProto::FLOAT);
        out.add_dims(1);
        out.add_dims(static_cast<int64_t>(values.size()));
        for (const float value : values) out.add_float_data(value);
        return out;
    }
    /// The case with the outputs as they are here.
    void makeCase(const std::string& nodes, size_t inputs)
    {
        write("case/model.onnx",
              test::modelOf("opset 13\ninput x float32 1," + std::to_string(inputs) + "\n" + nodes +
                            "output y float32 *\n")
                  .SerializeAsString());
        std::vector<float> values;
        for (size_t i = 0; i < inputs; ++i)
            values.push_back(static_cast<float>((i * 37) % 64) / 8.0F + 0.01F);
        write("case/test_data_set_0/input_0.pb", tensor("x", values).SerializeAsString());
        ASSERT_EQ(tenon("run " + m_folder.file("case/model.onnx") + " --inputs " +
                        m_folder.file("case/test_data_set_0") + " --outputs " +
                        m_folder.file("out"))
                      .code,
                  0);
        std::ifstream file(m_folder.file("out/output_0.pb"), std::ios::binary);
        tenon_onnx::TensorProto output;
        ASSERT_TRUE(output.ParseFromIstream(&file));
        m_reference.resize(output.raw_data().size() / sizeof(float));
        std::memcpy(m_reference.data(), output.raw_data().data(), output.raw_data().size());
        ASSERT_EQ(m_reference.size(), static_cast<size_t>(kOutputs));
    }
    /// The first `count` elements of the reference moved by `by`; the case's result.
    json verify(int count, float by)
    {
        std::vector<float> moved = m_reference;
        for (int i = 0; i < count; ++i) moved[static_cast<size_t>(i)] += by;
        write("case/test_data_set_0/output_0.pb", tensor("y", moved).SerializeAsString());
        const json all = json::parse(tenon("verify --json " + m_folder.file("case")).output);
        EXPECT_FALSE(all["rule"].get<std::string>().empty());
        return all["cases"][0];
    }

    test::TemporaryFolder m_folder;
    std::vector<float> m_reference;
};

TEST_F(Verify, TakesOneStepOfTheLastQuantizedTensorForWhatItIs)
{
    makeCase(kSum, 16);
    const json same = verify(0, 0);
    EXPECT_EQ(same["status"], "passed") << same;
    EXPECT_EQ(same["outputs"][0]["outside"], 0);
    EXPECT_EQ(same["sha256"].get<std::string>().size(), 64u);
    const json one = verify(1, 1.5F);
    EXPECT_EQ(one["status"], "passed") << one;
    EXPECT_EQ(one["outputs"][0]["one_step"], 1);
    EXPECT_EQ(one["outputs"][0]["one_step_allowed"], 1);
    EXPECT_EQ(one["outputs"][0]["one_step_reach"], 1.5);
    EXPECT_EQ(verify(1, 3)["status"], "failed") << "two steps";
    EXPECT_EQ(verify(2, 1.5F)["status"], "failed") << "more than 2 % of 64";
}

TEST_F(Verify, AllowsNoStepWhereEverythingBeforeIsExact)
{
    makeCase(kExact, kOutputs);
    EXPECT_EQ(verify(0, 0)["status"], "passed");
    EXPECT_EQ(verify(1, 1.5F)["status"], "failed");
}

TEST_F(Verify, TakesFoldersWithAnyModelThatAnImporterReads)
{
    test::TfliteWriter w;
    const int x = w.input("x", test::TfliteType::Float32, {1, 2});
    const int y = w.output("y", test::TfliteType::Float32, {1, 2});
    w.op("RELU", {x}, {y});
    const std::vector<std::byte> bytes = w.file();
    write("lite/model.tflite",
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    write("lite/test_data_set_0/input_0.pb", tensor("x", {-1, 2}).SerializeAsString());
    write("lite/test_data_set_0/output_0.pb", tensor("y", {0, 2.25F}).SerializeAsString());
    EXPECT_EQ(tenon("verify " + m_folder.file("lite")).code, 1);
    write("lite/meta.json", R"({"tolerance": [{"output": 0, "kind": "float", "atol": 0.5}]})");
    EXPECT_EQ(tenon("verify " + m_folder.file("lite")).code, 0);
}

TEST_F(Verify, NothingToCompareWithIsNoPass)
{
    makeCase(kExact, kOutputs);
    EXPECT_EQ(verify(0, 0)["status"], "passed");
    std::filesystem::remove(m_folder.file("case/test_data_set_0/output_0.pb"));
    const auto said = tenon("verify " + m_folder.file("case"));
    EXPECT_EQ(said.code, 1);
    EXPECT_NE(said.output.find("there is no `output_0.pb` to compare with"), std::string::npos)
        << said.output;
}

} // namespace
} // namespace tenon::cli
