// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: LSTM and RNN of ONNX where those compute the same, else a Scan.
#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/quantize.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon::compiler {
namespace {

using test::countOf;
using test::FlatOut;
using test::sameDocument;
using test::TfliteWriter;
using Sizes = std::vector<int32_t>;
using Type = test::TfliteType;

constexpr int32_t kInputs = 3, kCells = 4;
constexpr int8_t kRelu = 1, kRelu6 = 3, kTanh = 4;

struct Layer
{
    int32_t steps = 5, batch = 2, outputs = kCells;
    float limit = 0;
    int8_t activation = kTanh;
    bool isTimeFirst = false, isCoupled = false, isNormalized = false, hasPeepholes = false;
    bool hasDense = false; ///< behind it
};

class LayerFile
{
public:
    explicit LayerFile(const Layer& layer)
        : m_layer(layer)
    {
        const Sizes data = shape(kInputs), result = shape(layer.outputs);
        std::vector<int32_t> in(24, -1);
        in[0] = w.input("x", Type::Float32, data);
        for (size_t gate = 0; gate < 4; ++gate) addGate(in, gate);
        if (layer.outputs != kCells) in[16] = floats({layer.outputs, kCells});
        in[18] = w.variable("h", Type::Float32, {layer.batch, layer.outputs});
        in[19] = w.variable("c", Type::Float32, {layer.batch, kCells});
        const int made = layer.hasDense ? w.tensor("s", Type::Float32, result)
                                        : w.output("y", Type::Float32, result);
        w.op("UNIDIRECTIONAL_SEQUENCE_LSTM", in, {made},
             FlatOut()
                 .number(0, layer.activation)
                 .number(1, layer.limit)
                 .number(3, static_cast<uint8_t>(layer.isTimeFirst)));
        if (layer.hasDense)
            w.op("FULLY_CONNECTED", {made, floats({6, layer.outputs}), floats({6})},
                 {w.output("y", Type::Float32, {layer.steps * layer.batch, 6})});
    }

    TfliteWriter w;

private:
    Sizes shape(int32_t features) const
    {
        return m_layer.isTimeFirst ? Sizes{m_layer.steps, m_layer.batch, features}
                                   : Sizes{m_layer.batch, m_layer.steps, features};
    }
    int floats(const Sizes& shape)
    {
        const Tensor made = test::randomTensor({shape.begin(), shape.end()}, ++m_seed);
        const auto values = made.as<float>();
        return w.constant<float>("w" + std::to_string(m_seed), Type::Float32, shape,
                                 std::vector<float>(values.begin(), values.end()));
    }
    void addGate(std::vector<int32_t>& in, size_t gate)
    {
        if (m_layer.isCoupled && gate == 0) return;
        in[1 + gate] = floats({kCells, kInputs});
        in[5 + gate] = floats({kCells, m_layer.outputs});
        in[12 + gate] = floats({kCells});
        if (m_layer.isNormalized) in[20 + gate] = floats({kCells});
        if (m_layer.hasPeepholes && gate != 2) in[gate == 3 ? 11 : 9 + gate] = floats({kCells});
    }

    Layer m_layer;
    uint64_t m_seed = 40;
};

bool isOneLstm(const Layer& layer)
{
    const auto made = sameDocument(LayerFile(layer).w);
    EXPECT_EQ(countOf(made, "LSTM") + countOf(made, "Scan"), 1);
    return countOf(made, "LSTM") == 1;
}

TEST(TfliteRecurrent, IsAnLstm)
{
    EXPECT_TRUE(isOneLstm({}));
    EXPECT_TRUE(isOneLstm({.isTimeFirst = true}));
    EXPECT_TRUE(isOneLstm({.isCoupled = true}));
    EXPECT_TRUE(isOneLstm({.hasPeepholes = true}));
    EXPECT_TRUE(isOneLstm({.isCoupled = true, .hasPeepholes = true}));
    EXPECT_TRUE(isOneLstm({.steps = 2, .activation = kRelu}));
    EXPECT_TRUE(isOneLstm({.steps = 2, .activation = 0}));
}

/// No cell grows by more than 1 a step.
TEST(TfliteRecurrent, LimitsThatNoCellReachesDoNotCount)
{
    EXPECT_TRUE(isOneLstm({.steps = 5, .limit = 5}));
    EXPECT_FALSE(isOneLstm({.steps = 6, .limit = 5}));
    EXPECT_FALSE(isOneLstm({.steps = 2, .limit = 5, .activation = kRelu}));
}

TEST(TfliteRecurrent, OtherCellsAreAScan)
{
    EXPECT_FALSE(isOneLstm({.limit = 0.5F}));
    EXPECT_FALSE(isOneLstm({.limit = 0.5F, .isTimeFirst = true}));
    EXPECT_FALSE(isOneLstm({.outputs = 3}));
    EXPECT_FALSE(isOneLstm({.isNormalized = true}));
    EXPECT_FALSE(
        isOneLstm({.outputs = 3, .isCoupled = true, .isNormalized = true, .hasPeepholes = true}));
    EXPECT_FALSE(isOneLstm({.activation = kRelu6}));
}

/// Both directions of a cell that is limited.
TEST(TfliteRecurrent, AScanGoesBackward)
{
    TfliteWriter w;
    std::vector<int32_t> in(48, -1);
    uint64_t seed = 60;
    const auto floats = [&](const Sizes& shape) {
        const Tensor made = test::randomTensor({shape.begin(), shape.end()}, ++seed);
        const auto values = made.as<float>();
        return w.constant<float>("w" + std::to_string(seed), Type::Float32, shape,
                                 std::vector<float>(values.begin(), values.end()));
    };
    in[0] = w.input("x", Type::Float32, {1, 3, kInputs});
    for (const size_t shift : {size_t{0}, size_t{17}})
        for (size_t gate = 0; gate < 4; ++gate) {
            in[shift + 1 + gate] = floats({kCells, kInputs});
            in[shift + 5 + gate] = floats({kCells, kCells});
            in[shift + 12 + gate] = floats({kCells});
        }
    for (const size_t state : {size_t{35}, size_t{36}, size_t{37}, size_t{38}})
        in[state] = w.variable("s" + std::to_string(state), Type::Float32, {1, kCells});
    w.op("BIDIRECTIONAL_SEQUENCE_LSTM", in, {w.output("y", Type::Float32, {1, 3, 2 * kCells})},
         FlatOut().number(0, kTanh).number(1, 0.6F).number(3, uint8_t{1}).number(4, uint8_t{0}));
    EXPECT_EQ(countOf(sameDocument(w), "Scan"), 2);
}

/// One step.
TfliteWriter rnnFile(int8_t activation)
{
    TfliteWriter w;
    const std::vector<float> two{0.5F, -1, 1, 0.25F};
    const int x = w.input("x", Type::Float32, {1, 2});
    w.op("RNN",
         {x, w.constant<float>("w", Type::Float32, {2, 2}, two),
          w.constant<float>("r", Type::Float32, {2, 2}, two),
          w.constant<float>("b", Type::Float32, {2}, {0.1F, 0.2F}),
          w.variable("h", Type::Float32, {1, 2})},
         {w.output("y", Type::Float32, {1, 2})}, FlatOut().number(0, activation));
    return w;
}

TEST(TfliteRecurrent, IsAnRnnOfWhatOnnxHas)
{
    EXPECT_EQ(countOf(sameDocument(rnnFile(kTanh)), "RNN"), 1);
    const std::string refusal = test::refusalOf(rnnFile(kRelu6));
    EXPECT_NE(refusal.find("its fused activation 3 is none that ONNX's RNN has"), std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find("(RNN)"), std::string::npos) << refusal;
}

TEST(TfliteRecurrent, IsQuantizedAround)
{
    const test::TemporaryFolder folder;
    for (const float limit : {0.0F, 0.5F}) {
        const std::vector<std::byte> file =
            LayerFile({.batch = 1, .limit = limit, .hasDense = true}).w.file();
        std::ofstream(folder.file("m.tflite"), std::ios::binary)
            .write(reinterpret_cast<const char*>(file.data()),
                   static_cast<std::streamsize>(file.size()));
        JobContext job(2);
        const auto made =
            quantizeModel(folder.file("m.tflite"), test::randomData("x", {1, 5, kInputs}, 4), {},
                          test::evaluatingRunner(), job);
        ASSERT_TRUE(made) << made.error().text();
        for (const OutputAccount& output : made->report.outputs)
            EXPECT_GT(output.sqnrDb, 20) << output.name << " " << limit;
    }
}

} // namespace
} // namespace tenon::compiler
