// SPDX-License-Identifier: Apache-2.0
// Sizes that the caller binds: examples have them, and the written model declares them.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/quantize/bind_sizes.h"
#include "compiler/quantize/calibration_files.h"
#include "compiler/quantize/tflite_document.h"
#include "tests/compiler/quantize/quantize_fixture.h"
#include "tests/support/tflite_writer.h"

namespace tenon::compiler {
namespace {

using Type = test::TfliteType;
using test::FlatOut;

std::vector<int64_t> declaredShape(const tenon_onnx::ValueInfoProto& value)
{
    std::vector<int64_t> out;
    for (const auto& dim : value.type().tensor_type().shape().dim())
        out.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    return out;
}

TEST_F(Quantize, WritesAModelWithTheSizesThatAreBound)
{
    model("opset 13\ninput x float32 n,3,12,12\ninit w1 float32 4,3,3,3\n"
          "node Conv c x,w1 -> y\noutput y float32 n,4,10,10\n");
    for (const char* name : {"x", "n"}) {
        QuantizeOptions options;
        options.sizes.shapes[name] =
            name[0] == 'x' ? std::vector<int64_t>{2, 3, 12, 12} : std::vector<int64_t>{2};
        EXPECT_NE(refusal(images(4), options).find("(2, 3, 12, 12)"), std::string::npos);
        const auto made = quantize(test::randomData("x", {2, 3, 12, 12}, 4), options);
        ASSERT_TRUE(made) << made.error().text();
        tenon_onnx::ModelProto written;
        ASSERT_TRUE(written.ParseFromString(made->bytes));
        EXPECT_EQ(declaredShape(written.graph().input(0)), (std::vector<int64_t>{2, 3, 12, 12}));
        EXPECT_EQ(declaredShape(written.graph().output(0)), (std::vector<int64_t>{2, 4, 10, 10}));
    }
}

/// A picture, flattened between two layers.
std::vector<std::byte> openBatch(bool isSignedInside)
{
    test::TfliteWriter writer;
    const auto floats = [&](const std::string& name, std::vector<int32_t> shape, size_t count,
                            uint64_t seed) {
        const Tensor made = test::randomTensor({static_cast<int64_t>(count)}, seed);
        const auto values = made.as<float>();
        return writer.constant<float>(name, Type::Float32, std::move(shape),
                                      std::vector<float>(values.begin(), values.end()));
    };
    const int x = writer.input("x", Type::Float32, {1, 4, 4, 3});
    const int c = writer.tensor("c", Type::Float32, {1, 4, 4, 2});
    const int f = writer.tensor("f", Type::Float32, {1, 32});
    const int y = writer.output("y", Type::Float32, {1, 5});
    writer.sign(x, {-1, 4, 4, 3});
    if (isSignedInside) {
        writer.sign(c, {-1, 4, 4, 2});
        writer.sign(f, {-1, 32});
        writer.sign(y, {-1, 5});
    }
    const int shape = writer.constant<int32_t>("shape", Type::Int32, {2}, {-1, 32});
    writer.op("CONV_2D", {x, floats("w1", {2, 3, 3, 3}, 54, 1), floats("b1", {2}, 2, 2)}, {c},
              FlatOut().number(0, int8_t{0}).number(1, 1).number(2, 1).number(3, int8_t{1}));
    writer.op("RESHAPE", {c, shape}, {f});
    writer.op("FULLY_CONNECTED", {f, floats("w2", {5, 32}, 160, 3), floats("b2", {5}, 5, 4)}, {y});
    return writer.file();
}

TEST(BindSizes, GivesAnOpenBatchOfTensorFlowLiteToAllThatHaveIt)
{
    const std::vector<std::byte> file = openBatch(true);
    ImportOptions sizes;
    sizes.shapes["x"] = {3, 4, 4, 3};
    const auto document = readTfliteDocument(file, "net.tflite", sizes);
    ASSERT_TRUE(document) << document.error().text();
    EXPECT_EQ(declaredShape(document->graph().output(0)), (std::vector<int64_t>{3, 5}));
    const auto loaded = loadTfliteBytes(file, nullptr, "net.tflite", sizes);
    ASSERT_TRUE(loaded && !hasErrors(loaded->diagnostics));
    const std::map<std::string, Tensor> inputs{{"x", test::randomTensor({3, 4, 4, 3}, 11)}};
    const auto expected = evaluateGraph(loaded->module, inputs, JobContext());
    ASSERT_TRUE(expected) << expected.error().text();
    const auto actual = test::evaluated(*document, inputs);
    ASSERT_EQ(actual.size(), 1u);
    ASSERT_EQ(actual[0].shape(), (*expected)[0].shape());
    for (int64_t i = 0; i < actual[0].size(); ++i)
        EXPECT_NEAR(actual[0].number(i), (*expected)[0].number(i), 2e-5) << i;
}

TEST(BindSizes, RefusesWhatTensorFlowLiteFilesDoNotSay)
{
    const auto refusal = [](const std::vector<std::byte>& file, std::vector<int64_t> shape) {
        ImportOptions sizes;
        sizes.shapes["x"] = std::move(shape);
        const auto document = readTfliteDocument(file, "net.tflite", sizes);
        return document ? std::string("it did not fail") : document.error().text();
    };
    const std::string unsignedInside = refusal(openBatch(false), {3, 4, 4, 3});
    EXPECT_NE(unsignedInside.find("does not say which sizes of `y` follow"), std::string::npos)
        << unsignedInside;
    const std::string rank = refusal(openBatch(true), {3, 4});
    EXPECT_NE(rank.find("cannot be bound to (3, 4)"), std::string::npos) << rank;
    const std::string inner = refusal(openBatch(true), {3, 4, 8, 3});
    EXPECT_NE(inner.find("cannot be bound to (3, 4, 8, 3)"), std::string::npos) << inner;
}

} // namespace
} // namespace tenon::compiler
