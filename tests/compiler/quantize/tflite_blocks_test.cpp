// SPDX-License-Identifier: Apache-2.0
// Convolutions between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: one with gaps where it can be.
#include "compiler/quantize/onnx_document.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

using test::FlatOut;
using test::TfliteWriter;
using Sizes = std::vector<int32_t>;
using Type = test::TfliteType;

constexpr int8_t kSamePadding = 0, kValidPadding = 1;

struct Chain
{
    Sizes blocks{2, 3}, edges{2, 2, 3, 4}, crops{0, 0, 0, 0}, lastBlocks = blocks;
    int32_t rows = 6, columns = 8, stride = 1, gap = 1;
    int8_t padding = kValidPadding;
    bool isDepthwise = false;
    bool isHalf = false; ///< the weight is of 16 bits, and spread behind the first operator
    bool isReadTwice = false, isResult = false; ///< what the first operator makes
};

constexpr int32_t kChannels = 3, kKernel = 3;

class ChainFile
{
public:
    explicit ChainFile(const Chain& chain)
        : m_chain(chain)
    {
        const int x = w.input("x", Type::Float32, {1, chain.rows, chain.columns, kChannels});
        const Sizes cut = size(chain.blocks, chain.edges, {chain.rows, chain.columns});
        const int32_t batch = chain.blocks[0] * (chain.blocks.size() > 1 ? chain.blocks[1] : 1);
        const int s = w.tensor("s", Type::Float32, {batch, cut[0], cut[1], kChannels});
        const Sizes window = chain.padding == kSamePadding ? Sizes{cut[0], cut[1]} : behind(cut);
        const int32_t filters = chain.isDepthwise ? kChannels : 4;
        const int c = w.tensor("c", Type::Float32, {batch, window[0], window[1], filters});
        Sizes out{window[0] * chain.blocks[0],
                  window[1] * (chain.blocks.size() > 1 ? chain.blocks[1] : 1)};
        for (size_t i = 0; i < chain.blocks.size(); ++i)
            out[i] -= chain.crops[2 * i] + chain.crops[2 * i + 1];
        const int y = w.output("y", Type::Float32, {1, out[0], out[1], filters});
        w.op("SPACE_TO_BATCH_ND", {x, list("b", chain.blocks), pairs("e", chain.edges)}, {s});
        addConvolution(s, c, filters);
        w.op("BATCH_TO_SPACE_ND", {c, list("lb", chain.lastBlocks), pairs("k", chain.crops)}, {y});
        if (chain.isReadTwice)
            w.op("NEG", {s}, {w.output("n", Type::Float32, {batch, cut[0], cut[1], kChannels})});
        if (chain.isResult) w.markOutput(s);
    }

    TfliteWriter w;

private:
    static Sizes size(const Sizes& blocks, const Sizes& edges, Sizes of)
    {
        for (size_t i = 0; i < blocks.size(); ++i)
            of[i] = (of[i] + edges[2 * i] + edges[2 * i + 1]) / blocks[i];
        return of;
    }
    Sizes behind(const Sizes& cut) const
    {
        const int32_t reach = (kKernel - 1) * m_chain.gap;
        return {(cut[0] - reach + m_chain.stride - 1) / m_chain.stride,
                (cut[1] - reach + m_chain.stride - 1) / m_chain.stride};
    }
    int list(const std::string& name, const Sizes& values)
    {
        return w.constant<int32_t>(name, Type::Int32, {static_cast<int32_t>(values.size())},
                                   values);
    }
    int pairs(const std::string& name, const Sizes& values)
    {
        return w.constant<int32_t>(name, Type::Int32, {static_cast<int32_t>(values.size() / 2), 2},
                                   values);
    }
    int floats(const std::string& name, const Sizes& shape)
    {
        const std::vector<int64_t> wide(shape.begin(), shape.end());
        const Tensor made = test::randomTensor(wide, ++m_seed);
        const auto values = made.as<float>();
        return w.constant<float>(name, Type::Float32, shape,
                                 std::vector<float>(values.begin(), values.end()));
    }
    int halves(const Sizes& shape)
    {
        std::vector<uint16_t> values(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]),
                                     0x3C00);
        for (size_t i = 0; i < values.size(); i += 3) values[i] = 0xB800; // -0.5
        const int out = w.tensor("w", Type::Float32, shape);
        w.op("DEQUANTIZE", {w.constant<uint16_t>("half", Type::Float16, shape, values)}, {out});
        return out;
    }
    void addConvolution(int from, int to, int32_t filters)
    {
        const bool isDepthwise = m_chain.isDepthwise;
        const Sizes kernel = isDepthwise ? Sizes{1, kKernel, kKernel, filters}
                                         : Sizes{filters, kKernel, kKernel, kChannels};
        FlatOut options;
        options.number(0, m_chain.padding).number(1, m_chain.stride).number(2, m_chain.stride);
        int field = 3;
        if (isDepthwise) options.number(field++, 1);
        options.number(field, int8_t{1})
            .number(field + 1, m_chain.gap)
            .number(field + 2, m_chain.gap);
        const int weight = m_chain.isHalf ? halves(kernel) : floats("w", kernel);
        w.op(isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", {from, weight, floats("a", {filters})},
             {to}, std::move(options));
    }

    Chain m_chain;
    uint64_t m_seed = 20;
};

const tenon_onnx::NodeProto& convolutionOf(const tenon_onnx::ModelProto& model)
{
    for (const auto& node : model.graph().node())
        if (node.op_type() == "Conv") return node;
    throw std::runtime_error("no convolution");
}

bool isOneConvolution(const tenon_onnx::ModelProto& model)
{
    return test::countOf(model, "Conv") == 1 && test::countOf(model, "Reshape") == 0 &&
           test::countOf(model, "Pad") == 0 && test::countOf(model, "Slice") == 0;
}

TEST(TfliteBlocks, AConvolutionBetweenThemHasGaps)
{
    const auto made = test::sameDocument(ChainFile({}).w);
    EXPECT_TRUE(isOneConvolution(made));
    EXPECT_EQ(integersOf(convolutionOf(made), "dilations"), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(integersOf(convolutionOf(made), "pads"), (std::vector<int64_t>{2, 3, 2, 4}));
    const auto depthwise = test::sameDocument(ChainFile({.isDepthwise = true}).w);
    EXPECT_TRUE(isOneConvolution(depthwise));
    EXPECT_EQ(integerOf(convolutionOf(depthwise), "group", 1), kChannels);
    EXPECT_TRUE(isOneConvolution(test::sameDocument(ChainFile({.isHalf = true}).w)));
}

TEST(TfliteBlocks, CropsAreLessPadding)
{
    const auto made = test::sameDocument(ChainFile({.crops = {1, 0, 0, 2}}).w);
    EXPECT_TRUE(isOneConvolution(made));
    EXPECT_EQ(integersOf(convolutionOf(made), "pads"), (std::vector<int64_t>{1, 3, 2, 2}));
}

TEST(TfliteBlocks, SamePadsBlocksAndGapsMultiply)
{
    const auto made = test::sameDocument(
        ChainFile({.edges = {0, 0, 0, 1}, .crops = {0, 0, 0, 1}, .gap = 2, .padding = kSamePadding})
            .w);
    EXPECT_TRUE(isOneConvolution(made));
    EXPECT_EQ(integersOf(convolutionOf(made), "dilations"), (std::vector<int64_t>{4, 6}));
    EXPECT_EQ(integersOf(convolutionOf(made), "pads"), (std::vector<int64_t>{4, 6, 4, 6}));
}

TEST(TfliteBlocks, OneBlockIsOfRows)
{
    const auto made =
        test::sameDocument(ChainFile({.blocks = {2}, .edges = {2, 2}, .crops = {0, 0}}).w);
    EXPECT_TRUE(isOneConvolution(made));
    EXPECT_EQ(integersOf(convolutionOf(made), "dilations"), (std::vector<int64_t>{2, 1}));
}

/// What no one convolution computes is written out, and the same.
TEST(TfliteBlocks, OthersStayAsTheyAre)
{
    const std::vector<std::pair<const char*, Chain>> others{
        {"crops more than there is", {.crops = {3, 0, 0, 0}}},
        {"a stride", {.edges = {4, 4, 5, 5}, .stride = 2}},
        {"other blocks", {.lastBlocks = {3, 2}}},
        {"another reader", {.isReadTwice = true}},
        {"a result between", {.isResult = true}}};
    for (const auto& [what, chain] : others) {
        SCOPED_TRACE(what);
        const auto made = test::sameDocument(ChainFile(chain).w);
        EXPECT_FALSE(isOneConvolution(made));
        EXPECT_EQ(integersOf(convolutionOf(made), "dilations"), (std::vector<int64_t>{1, 1}));
    }
}

/// [batch, time, channels], in a picture of one row or of one column on the way.
TfliteWriter sequenceFile(bool isRow)
{
    TfliteWriter w;
    const auto wide = [&](int32_t time, int32_t channels) {
        return isRow ? Sizes{4, 1, time, channels} : Sizes{4, time, 1, channels};
    };
    const int x = w.input("x", Type::Float32, {1, 13, 2});
    const int s = w.tensor("s", Type::Float32, {4, 5, 2}),
              e = w.tensor("e", Type::Float32, wide(5, 2)),
              c = w.tensor("c", Type::Float32, wide(3, 3)),
              q = w.tensor("q", Type::Float32, {4, 3, 3}),
              y = w.output("y", Type::Float32, {1, 11, 3});
    const int blocks = w.constant<int32_t>("b", Type::Int32, {1}, {4}),
              edges = w.constant<int32_t>("edges", Type::Int32, {1, 2}, {6, 1}),
              crops = w.constant<int32_t>("crops", Type::Int32, {1, 2}, {0, 1}),
              axis = w.constant<int32_t>("axis", Type::Int32, {}, {isRow ? 1 : 2});
    const Sizes kernel = isRow ? Sizes{3, 1, 3, 2} : Sizes{3, 3, 1, 2};
    const Tensor numbers = test::randomTensor({18}, 5);
    const auto values = numbers.as<float>();
    const int weight = w.constant<float>("w", Type::Float32, kernel,
                                         std::vector<float>(values.begin(), values.end())),
              bias = w.constant<float>("a", Type::Float32, {3}, {0.5F, -1, 2});
    w.op("SPACE_TO_BATCH_ND", {x, blocks, edges}, {s});
    w.op("EXPAND_DIMS", {s, axis}, {e});
    w.op("CONV_2D", {e, weight, bias}, {c},
         FlatOut().number(0, kValidPadding).number(1, 1).number(2, 1).number(3, int8_t{3}));
    w.op("SQUEEZE", {c}, {q}, FlatOut().numbers(0, Sizes{isRow ? 1 : 2}));
    w.op("BATCH_TO_SPACE_ND", {q, blocks, crops}, {y});
    return w;
}

TEST(TfliteBlocks, ASequenceIsOneConvolution)
{
    for (const bool isRow : {true, false}) {
        SCOPED_TRACE(isRow);
        const auto made = test::sameDocument(sequenceFile(isRow));
        EXPECT_TRUE(isOneConvolution(made));
        EXPECT_EQ(integersOf(convolutionOf(made), "dilations"), std::vector<int64_t>{4});
        EXPECT_EQ(integersOf(convolutionOf(made), "pads"), (std::vector<int64_t>{6, 0}));
    }
}

} // namespace
} // namespace tenon::compiler
