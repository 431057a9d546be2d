// SPDX-License-Identifier: Apache-2.0
// tenon compare beside other models: floats of another file format, other weights, other types.
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;
using LiteType = test::TfliteType;

const std::string kSampleDigits = test::sourcePath("resources/sample/digits");

class CompareQuantized : public testing::Test
{
protected:
    std::string path(const std::string& name) const { return m_folder.file(name); }

    void quantize(const std::string& from, const std::string& to, const std::string& options)
    {
        const Outcome out = tenon("quantize " + from + " -o " + path(to) + " " + options +
                                  " --target 'llvm -mcpu=x86-64-v3' 2>&1");
        ASSERT_EQ(out.code, 0) << out.output;
    }

    /// The network as a file, with a picture to quantize by and to compare on.
    void writeCubes();

    test::TemporaryFolder m_folder;
};

std::vector<float> wave(size_t count, double step)
{
    std::vector<float> out;
    for (size_t i = 0; i < count; ++i)
        out.push_back(static_cast<float>(0.3 * std::sin(step * static_cast<double>(i * i + 1))));
    return out;
}

/// Pictures as high as wide as they have channels, of which the shape does not tell the layout.
std::string cubes()
{
    test::TfliteWriter w;
    const std::vector<int32_t> shape{1, 8, 8, 8};
    const auto options = [](int8_t activation) {
        return test::FlatOut().number(0, int8_t{0}).number(1, 1).number(2, 1).number(3, activation);
    };
    const int x = w.input("x", LiteType::Float32, shape),
              a = w.tensor("a", LiteType::Float32, shape),
              b = w.tensor("b", LiteType::Float32, shape),
              y = w.output("y", LiteType::Float32, shape);
    const auto weights = [&](const std::string& name, double step) {
        return w.constant<float>(name, LiteType::Float32, {8, 3, 3, 8}, wave(8 * 9 * 8, step));
    };
    const auto bias = [&](const std::string& name, double step) {
        return w.constant<float>(name, LiteType::Float32, {8}, wave(8, step));
    };
    w.op("CONV_2D", {x, weights("wa", 0.7), bias("ba", 0.9)}, {a}, options(1));
    w.op("CONV_2D", {a, weights("wb", 1.1), bias("bb", 1.3)}, {b}, options(1));
    w.op("CONV_2D", {b, weights("wy", 1.7), bias("by", 1.9)}, {y}, options(0));
    const std::vector<std::byte> bytes = w.file();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void CompareQuantized::writeCubes()
{
    std::ofstream(path("net.tflite"), std::ios::binary) << cubes();
    tenon_onnx::TensorProto picture;
    picture.set_name("x");
    picture.set_data_type(1);
    for (const int64_t size : {1, 8, 8, 8}) picture.add_dims(size);
    for (const float value : wave(512, 2.3)) picture.add_float_data(value);
    std::ofstream(path("x.pb"), std::ios::binary) << picture.SerializeAsString();
    quantize(path("net.tflite"), "q.onnx", "--data " + path("x.pb"));
}

TEST_F(CompareQuantized, FindsTheTensorsOfTheTfliteFileItWasMadeOf)
{
    ASSERT_NO_FATAL_FAILURE(writeCubes());
    const Outcome out = tenon("compare " + path("q.onnx") + " --reference " + path("net.tflite") +
                              " --inputs " + path("x.pb") + " --json 2>/dev/null");
    ASSERT_EQ(out.code, 0) << out.output;
    const json said = json::parse(out.output);
    size_t layers = 0;
    for (const json& tensor : said["tensors"]) {
        if (std::string(tensor["kernel"]).find("conv") == std::string::npos) continue;
        ++layers;
        EXPECT_TRUE(tensor["in_reference"]) << tensor;
        ASSERT_TRUE(tensor["isolated"]["sqnr_db"].is_number()) << "exact: " << tensor;
        EXPECT_GT(tensor["isolated"]["sqnr_db"], 25) << "another layout: " << tensor;
    }
    EXPECT_EQ(layers, 3U) << said;
}

TEST_F(CompareQuantized, SaysWhichTensorsTheReferenceDoesNotHave)
{
    // The same network, whose tensors but the last have other names.
    ASSERT_NO_FATAL_FAILURE(writeCubes());
    std::string other = cubes();
    for (const char name : {'a', 'b'}) {
        // A string of one character: its length, itself, and a zero.
        const std::string from{1, 0, 0, 0, name, 0}, to{1, 0, 0, 0, static_cast<char>(name + 4), 0};
        for (size_t at = other.find(from); at != std::string::npos; at = other.find(from, at + 1))
            other.replace(at, to.size(), to);
    }
    std::ofstream(path("other.tflite"), std::ios::binary) << other;
    const Outcome out = tenon("compare " + path("q.onnx") + " --reference " + path("other.tflite") +
                              " --min-sqnr 200 --inputs " + path("x.pb") + " 2>&1");
    EXPECT_EQ(out.code, 1) << out.output;
    EXPECT_NE(out.output.find("no tensor of the name for "), std::string::npos) << out.output;
    EXPECT_NE(out.output.find("(a"), std::string::npos) << out.output;
    EXPECT_EQ(out.output.find("the kernel itself is off"), std::string::npos)
        << "what is before it is of no reference: " << out.output;
}

TEST_F(CompareQuantized, FindsAWeightThatIsAllThatDiffers)
{
    ASSERT_NO_FATAL_FAILURE(
        quantize(kSampleDigits + "/model.onnx", "good.onnx", "--data " + kSampleDigits));
    const auto bytes = core::readFile(path("good.onnx"));
    ASSERT_TRUE(bytes);
    tenon_onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(*bytes));
    std::string changed;
    for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
        if (tensor.data_type() != 3 || tensor.dims_size() != 4) continue; // weights of int8
        changed = tensor.name();
        (*tensor.mutable_raw_data())[9] = static_cast<char>((*tensor.mutable_raw_data())[9] ^ 16);
        break;
    }
    ASSERT_FALSE(changed.empty());
    std::ofstream(path("flipped.onnx"), std::ios::binary) << model.SerializeAsString();
    const Outcome out = tenon("compare " + path("flipped.onnx") + " --inputs " + kSampleDigits +
                              " --reference " + path("good.onnx") + " --json 2>/dev/null");
    EXPECT_EQ(out.code, 1) << changed;
    const json said = json::parse(out.output);
    ASSERT_TRUE(said["first_outside"].is_number()) << changed;
    size_t off = 0;
    for (const json& tensor : said["tensors"])
        off += tensor.contains("isolated") && tensor["isolated"]["is_outside"] ? 1 : 0;
    EXPECT_EQ(off, 1U) << "the layer of the weight alone";
    EXPECT_TRUE(said["tensors"][size_t(said["first_outside"])]["isolated"]["is_outside"]);
}

TEST_F(CompareQuantized, GivesFloatsToAReferenceThatTakesThem)
{
    ASSERT_NO_FATAL_FAILURE(
        quantize(kSampleDigits + "/model.onnx", "io.onnx", "--integer-io --data " + kSampleDigits));
    const Outcome out = tenon("compare " + path("io.onnx") + " --reference " + kSampleDigits +
                              "/model.onnx --json 2>/dev/null");
    ASSERT_LE(out.code, 1) << "integers that are made up may be clipped on their way";
    const json tensors = json::parse(out.output)["tensors"];
    const auto layer = std::find_if(tensors.begin(), tensors.end(), [](const json& tensor) {
        return tensor["in_reference"] &&
               std::string(tensor["kernel"]).find("conv") != std::string::npos;
    });
    ASSERT_NE(layer, tensors.end());
    ASSERT_TRUE((*layer)["isolated"]["sqnr_db"].is_number()) << *layer;
    EXPECT_GT((*layer)["isolated"]["sqnr_db"], 25) << *layer;
    const Outcome reverse =
        tenon("compare " + kSampleDigits + "/model.onnx --inputs " + kSampleDigits +
              "/test_data_set_0 --reference " + path("io.onnx") + " 2>&1");
    EXPECT_NE(reverse.code, 0);
    EXPECT_NE(reverse.output.find("take a reference whose inputs have the same types"),
              std::string::npos)
        << reverse.output;
}

} // namespace
} // namespace tenon::cli
