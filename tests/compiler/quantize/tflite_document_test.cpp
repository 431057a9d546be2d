// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite models of floats as ONNX: they compute the same, and quantize like others.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/quantize/quantize.h"
#include "compiler/quantize/tflite_document.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"
#include "tests/conformance/tflite/tflite_case.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace tenon::compiler {
namespace {

using test::FlatOut;
using test::TfliteWriter;
using Type = test::TfliteType;

constexpr int8_t kSame = 0, kValid = 1;

std::vector<float> numbers(size_t count, int seed)
{
    const Tensor made =
        test::randomTensor({static_cast<int64_t>(count)}, static_cast<uint64_t>(seed));
    const auto values = made.as<float>();
    return {values.begin(), values.end()};
}

FlatOut convOptions(int8_t padding, int32_t stride, int8_t activation)
{
    return FlatOut().number(0, padding).number(1, stride).number(2, stride).number(3, activation);
}

/// Every kind of operator that a document may have, channels first and last.
class Network
{
public:
    Network()
    {
        const int x = m_writer.input("x", Type::Float32, {1, 9, 8, 3});
        m_joined = tensor("j", {1, 5, 4, 16});
        addPicture(x);
        addRest();
        m_writer.markOutput(m_joined);
    }
    std::vector<std::byte> file() const { return m_writer.file(); }

private:
    int tensor(const std::string& name, std::vector<int32_t> shape)
    {
        return m_writer.tensor(name, Type::Float32, std::move(shape));
    }
    int weights(std::vector<int32_t> shape)
    {
        size_t count = 1;
        for (const int32_t size : shape) count *= static_cast<size_t>(size);
        ++m_weights;
        return m_writer.constant<float>("w" + std::to_string(m_weights), Type::Float32,
                                        std::move(shape), numbers(count, m_weights));
    }
    void addPicture(int x)
    {
        const std::vector<int32_t> shape{1, 5, 4, 8};
        const int c1 = tensor("c1", shape), c2 = tensor("c2", shape), s1 = tensor("s1", shape),
                  s2 = tensor("s2", shape), h = tensor("h", shape), l = tensor("l", shape);
        m_writer.op("CONV_2D", {x, weights({8, 3, 3, 3}), weights({8})}, {c1},
                    convOptions(kSame, 2, 3));
        m_writer.op("DEPTHWISE_CONV_2D", {c1, weights({1, 3, 3, 8}), weights({8})}, {c2},
                    convOptions(kSame, 1, 1).number(3, 1).number(4, int8_t{1}));
        m_writer.op("ADD", {c1, c2}, {s1}, FlatOut().number(0, int8_t{1}));
        m_writer.op("MUL", {s1, weights({8})}, {s2});
        m_writer.op("HARD_SWISH", {s2}, {h});
        m_writer.op("LEAKY_RELU", {h}, {l}, FlatOut().number(0, 0.1F));
        m_writer.op("CONCATENATION", {l, c2}, {m_joined}, FlatOut().number(0, 3));
    }
    void addRest()
    {
        const auto window =
            FlatOut().number(0, kValid).number(1, 2).number(2, 2).number(3, 2).number(4, 2);
        const int p = tensor("p", {1, 7, 5, 16}), q = tensor("q", {1, 3, 2, 16}),
                  a = tensor("a", {1, 1, 1, 16}), t = tensor("t", {1, 16}),
                  r = tensor("r", {1, 32}), f = tensor("f", {1, 6}),
                  y = m_writer.output("y", Type::Float32, {1, 6});
        const int pads =
            m_writer.constant<int32_t>("pads", Type::Int32, {4, 2}, {0, 0, 1, 1, 0, 1, 0, 0});
        const int axes = m_writer.constant<int32_t>("axes", Type::Int32, {2}, {1, 2});
        m_writer.op("PAD", {m_joined, pads}, {p});
        m_writer.op("MAX_POOL_2D", {p}, {q}, window);
        m_writer.op("AVERAGE_POOL_2D", {q}, {a}, window);
        m_writer.op("MEAN", {a, axes}, {t});
        m_writer.op("CONCATENATION", {t, t}, {r}, FlatOut().number(0, 1));
        m_writer.op("FULLY_CONNECTED", {r, weights({6, 32}), weights({6})}, {f});
        m_writer.op("SOFTMAX", {f}, {y}, FlatOut().number(0, 1.0F));
    }

    TfliteWriter m_writer;
    int m_weights = 0;
    int m_joined = 0;
};

TEST(TfliteDocument, ComputesWhatTheFileDoes)
{
    const std::vector<std::byte> file = Network().file();
    const auto document = readTfliteDocument(file, "net.tflite");
    ASSERT_TRUE(document) << document.error().text();
    const auto loaded = loadTfliteBytes(file, nullptr, "net.tflite", {});
    ASSERT_TRUE(loaded && !hasErrors(loaded->diagnostics));
    const std::map<std::string, Tensor> inputs{{"x", test::randomTensor({1, 9, 8, 3}, 11)}};
    const auto expected = evaluateGraph(loaded->module, inputs, JobContext());
    ASSERT_TRUE(expected) << expected.error().text();
    const auto actual = test::evaluated(*document, inputs);
    ASSERT_EQ(actual.size(), 2u);
    for (size_t r = 0; r < 2; ++r) {
        ASSERT_EQ(actual[r].shape(), (*expected)[r].shape());
        for (int64_t i = 0; i < actual[r].size(); ++i)
            EXPECT_NEAR(actual[r].number(i), (*expected)[r].number(i), 2e-5) << r << " " << i;
    }
    int turned = 0;
    for (const auto& node : document->graph().node()) turned += node.op_type() == "Transpose";
    EXPECT_EQ(turned, 2) << "the input and the result with channels; nothing between";
}

constexpr std::string_view kOperators[] = {
#define OPERATOR(name, handler) name,
#include "compiler/quantize/tflite_operators.def"
#undef OPERATOR
};

/// Operators that have no such file, or none whose result can be evaluated.
bool isShownElsewhere(std::string_view op)
{
    return op == "Convolution2DTransposeBias" || op == "DENSIFY" || op == "WHERE" ||
           op == "TFLite_Detection_PostProcess" || op.starts_with("NON_MAX_SUPPRESSION");
}

/// Every file of one operator that a document can be made of.
TEST(TfliteDocument, ComputesWhatEachOperatorDoes)
{
    std::map<std::string, int> taken;
    for (const test::TfliteCase& one : test::allTfliteCases()) {
        const std::vector<std::byte> file = one.model.file();
        const auto document = readTfliteDocument(file, "m.tflite");
        if (!document || test::countOf(*document, "NonMaxSuppression") > 0) continue;
        const auto loaded = loadTfliteBytes(file, nullptr, "m.tflite", {});
        if (!loaded || hasErrors(loaded->diagnostics)) continue;
        std::map<std::string, Tensor> inputs;
        for (size_t i = 0; i < one.inputs.size(); ++i)
            inputs.emplace(loaded->facts.inputs.at(i).name, one.inputs[i]);
        const auto expected = evaluateGraph(loaded->module, inputs, JobContext());
        if (!expected) continue;
        const std::string label = one.op + " " + one.type + " " + one.what;
        SCOPED_TRACE(label);
        const auto actual = test::evaluated(*document, inputs);
        ASSERT_EQ(actual.size(), expected->size());
        for (size_t r = 0; r < actual.size(); ++r)
            EXPECT_EQ(test::differenceOf(actual[r], (*expected)[r]), "");
        ++taken[one.op];
    }
    int total = 0;
    for (const auto& [op, count] : taken) total += count;
    for (const std::string_view op : kOperators)
        EXPECT_TRUE(taken.contains(std::string(op)) || isShownElsewhere(op)) << op;
    EXPECT_GE(total, 850) << "of two thousand files, most of them of integers";
}

/// Options, shapes and numbers of tensors that are anything: an answer, whatever it is.
TEST(TfliteDocument, SurvivesDamagedFiles)
{
    std::minstd_rand random(7);
    int refused = 0;
    for (const test::TfliteCase& one : test::allTfliteCases()) {
        const std::vector<std::byte> file = one.model.file();
        if (file.size() > 4096 || !readTfliteDocument(file, "m.tflite")) continue;
        for (int i = 0; i < 6; ++i) {
            std::vector<std::byte> damaged = file;
            for (int k = 0; k < 2; ++k)
                damaged[random() % damaged.size()] = static_cast<std::byte>(random() % 256);
            if (!readTfliteDocument(damaged, "m.tflite")) ++refused;
        }
    }
    EXPECT_GT(refused, 100);
}

TEST(TfliteDocument, DeclaredShapesThatDoNotFitAreNamed)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4, 4, 2});
    const int size = w.constant<int32_t>("size", Type::Int32, {2}, {8, 8});
    w.op("RESIZE_BILINEAR", {x, size}, {w.output("y", Type::Float32, {128})});
    const auto document = readTfliteDocument(w.file(), "m.tflite");
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().message.find("is declared with another number of axes than 4"),
              std::string::npos)
        << document.error().message;
}

TEST(TfliteDocument, ResultsThatAreLeftOutAreNamed)
{
    for (const bool hasFirst : {true, false}) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {1, 4}), y = w.output("y", Type::Float32, {1, 2}),
                  z = w.output("z", Type::Float32, {1, 4});
        const int count = w.constant<int32_t>("k", Type::Int32, {}, {2});
        w.op("TOPK_V2", {x, count}, {hasFirst ? y : -1, -1});
        w.op("RELU", {x}, {z});
        if (!hasFirst) w.op("SLICE", {x, count, count}, {y});
        const std::string refusal = test::refusalOf(w);
        EXPECT_NE(refusal.find("leaves out one of its results"), std::string::npos) << refusal;
        EXPECT_NE(refusal.find("TOPK_V2"), std::string::npos) << refusal;
    }
}

TEST(TfliteDocument, IsQuantized)
{
    const test::TemporaryFolder folder;
    const std::vector<std::byte> file = Network().file();
    std::ofstream(folder.file("net.tflite"), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
    QuantizeOptions options;
    options.hasIntegerEnds = true;
    JobContext job(2);
    const auto made =
        quantizeModel(folder.file("net.tflite"), test::randomData("x", {1, 9, 8, 3}, 8), options,
                      test::evaluatingRunner(), job);
    ASSERT_TRUE(made) << made.error().text();
    for (const FloatNode& node : made->report.floats) EXPECT_EQ(node.op, "Softmax") << node.node;
    ASSERT_EQ(made->report.ends.size(), 3u);
    EXPECT_EQ(made->report.ends[0].name, "x");
    for (const OutputAccount& output : made->report.outputs)
        EXPECT_GT(output.sqnrDb, 20) << output.name;
}

TEST(TfliteDocument, SaysWhatItDoesNotTake)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4});
    const int s = w.tensor("s", Type::Float32, {1, 4}), y = w.output("y", Type::Float32, {1, 4});
    w.op("BUCKETIZE", {x}, {s});
    w.op("ATAN2", {s, s}, {y});
    const auto unknown = readTfliteDocument(w.file(), "m.tflite");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("ATAN2, BUCKETIZE"), std::string::npos)
        << unknown.error().message;
    TfliteWriter q;
    const int in = q.input("x", Type::Int8, {1, 4}, {{0.5F}, {0}});
    const int out = q.output("y", Type::Int8, {1, 4}, {{0.5F}, {0}});
    q.op("RELU", {in}, {out});
    const auto quantized = readTfliteDocument(q.file(), "m.tflite");
    ASSERT_FALSE(quantized);
    EXPECT_NE(quantized.error().message.find("quantized already"), std::string::npos);
    EXPECT_FALSE(readTfliteDocument({}, "m.tflite"));
}

} // namespace
} // namespace tenon::compiler
