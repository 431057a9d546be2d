// SPDX-License-Identifier: Apache-2.0
// Operators of .tflite files: values by hand, one behaviour each.
#include "tests/compiler/frontend/tflite/operator_run.h"

#include <cmath>

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;

constexpr int8_t kSame = 0, kValid = 1;

/// Conv2DOptions with strides of 1.
FlatOut convOptions(int8_t padding, int8_t activation = 0)
{
    return FlatOut().number(0, padding).number(1, 1).number(2, 1).number(3, activation);
}

/// One operator on float x of `shape`, giving y of `result`.
TfliteWriter unary(const std::string& op, std::vector<int32_t> shape, std::vector<int32_t> result,
                   FlatOut options = {})
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, std::move(shape));
    const int y = w.output("y", Type::Float32, std::move(result));
    w.op(op, {x}, {y}, std::move(options));
    return w;
}

/// The same with a constant of integers behind x.
TfliteWriter withIntegers(const std::string& op, std::vector<int32_t> shape,
                          std::vector<int32_t> result,
                          const std::vector<std::vector<int32_t>>& more, FlatOut options = {})
{
    TfliteWriter w;
    std::vector<int32_t> inputs{w.input("x", Type::Float32, std::move(shape))};
    for (size_t i = 0; i < more.size(); ++i)
        inputs.push_back(w.constant<int32_t>("c" + std::to_string(i), Type::Int32,
                                             {static_cast<int32_t>(more[i].size())}, more[i]));
    const int y = w.output("y", Type::Float32, std::move(result));
    w.op(op, inputs, {y}, std::move(options));
    return w;
}

TEST(TfliteOperator, ConvPadsWhatIsUnevenBehind)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2, 2, 1});
    const int k = w.constant<float>("k", Type::Float32, {1, 2, 2, 1}, {1, 10, 100, 1000});
    const int b = w.constant<float>("b", Type::Float32, {1}, {0.5F});
    const int y = w.output("y", Type::Float32, {1, 2, 2, 1});
    w.op("CONV_2D", {x, k, b}, {y}, convOptions(kSame));
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 2, 2, 1}, {1, 2, 3, 4})}}),
              (Numbers{4321.5, 402.5, 43.5, 4.5}));
}

TEST(TfliteOperator, DepthwiseConvHasAMultiplier)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 1, 2, 2});
    const int k = w.constant<float>("k", Type::Float32, {1, 1, 1, 4}, {1, 2, 3, 4});
    const int y = w.output("y", Type::Float32, {1, 1, 2, 4});
    w.op("DEPTHWISE_CONV_2D", {x, k}, {y},
         FlatOut().number(0, kValid).number(1, 1).number(2, 1).number(3, 2).number(4, int8_t{3}));
    // A fused RELU6.
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 1, 2, 2}, {1, -1, 2, 1})}}),
              (Numbers{1, 2, 0, 0, 2, 4, 3, 4}));
}

TEST(TfliteOperator, QuantizedConvRoundsOnceAndHalvesToEven)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 1, 4, 1}, {{0.5F}, {0}});
    const int k = w.constant<int8_t>("k", Type::Int8, {1, 1, 1, 1}, {1}, {{1.0F}, {0}});
    const int y = w.output("y", Type::Int8, {1, 1, 4, 1}, {{1.0F}, {10}});
    w.op("CONV_2D", {x, k}, {y}, convOptions(kValid, 1));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({1, 1, 4, 1}, {1, 3, 5, -7})}}), (Numbers{10, 12, 12, 10}));
}

TEST(TfliteOperator, WideConvScalesByAMultiplierOf16Bits)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int16, {1, 1, 2, 1}, {{0.5F}, {0}});
    const int k = w.constant<int8_t>("k", Type::Int8, {1, 1, 1, 1}, {1}, {{1.0F}, {0}});
    const int b = w.constant<int64_t>("b", Type::Int64, {1}, {0});
    const int y = w.output("y", Type::Int16, {1, 1, 2, 1}, {{1.0F}, {0}});
    w.op("CONV_2D", {x, k, b}, {y}, convOptions(kValid));
    // Halves go up: 2.5 becomes 3, -2.5 becomes -2.
    EXPECT_EQ(numbersOf(w, {{"x", Tensor::of<int16_t>(core::kInt16, {1, 1, 2, 1}, {5, -5})}}),
              (Numbers{3, -2}));
}

TEST(TfliteOperator, FullyConnectedQuantizesRowsForByteWeights)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 2});
    const int k = w.constant<int8_t>("k", Type::Int8, {1, 2}, {2, 1}, {{0.5F}, {0}});
    const int y = w.output("y", Type::Float32, {2, 1});
    w.op("FULLY_CONNECTED", {x, k, -1}, {y});
    // Row 0: a step of 2 / 127, so 1 becomes round(63.5) = 64 steps.
    const Numbers got = numbersOf(w, {{"x", floats({2, 2}, {2, 1, 0, 0})}});
    ASSERT_EQ(got.size(), 2u);
    EXPECT_NEAR(got[0], (254 + 64) * 2 / 127.0 * 0.5, 1e-6);
    EXPECT_EQ(got[1], 0);
}

TEST(TfliteOperator, TransposeConvTakesItsShapeFromAnInput)
{
    TfliteWriter w;
    const int s = w.constant<int32_t>("s", Type::Int32, {4}, {1, 1, 4, 1});
    const int k = w.constant<float>("k", Type::Float32, {1, 1, 2, 1}, {1, 10});
    const int x = w.input("x", Type::Float32, {1, 1, 2, 1});
    const int y = w.output("y", Type::Float32, {1, 1, 4, 1});
    w.op("TRANSPOSE_CONV", {s, k, x}, {y}, FlatOut().number(0, kSame).number(1, 2).number(2, 1));
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 1, 2, 1}, {1, 2})}}), (Numbers{1, 10, 2, 20}));
}

TEST(TfliteOperator, AveragesOfIntegersRoundHalvesAway)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 1, 4, 1}, {{0.5F}, {3}});
    const int y = w.output("y", Type::Int8, {1, 1, 2, 1}, {{0.5F}, {3}});
    w.op("AVERAGE_POOL_2D", {x}, {y},
         FlatOut().number(0, kValid).number(1, 2).number(2, 1).number(3, 2).number(4, 1));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({1, 1, 4, 1}, {1, 2, -1, -2})}}), (Numbers{2, -2}));
}

TEST(TfliteOperator, SumsOfQuantizedTensorsHaveTheirOwnScales)
{
    TfliteWriter w;
    const int a = w.input("a", Type::Int8, {3}, {{0.5F}, {1}});
    const int b = w.input("b", Type::Int8, {1}, {{0.25F}, {-2}});
    const int y = w.output("y", Type::Int8, {3}, {{1.0F}, {0}});
    w.op("ADD", {a, b}, {y});
    // b is (2 + 2) / 4 = 1.
    EXPECT_EQ(numbersOf(w, {{"a", bytes({3}, {3, 5, 127})}, {"b", bytes({1}, {2})}}),
              (Numbers{2, 3, 64}));
}

TEST(TfliteOperator, SubtractionAndProductsOfIntegers)
{
    for (const auto& [op, wanted] :
         {std::pair<std::string, Numbers>{"SUB", {2, 6}}, {"MUL", {3, 7}}}) {
        TfliteWriter w;
        const int a = w.input("a", Type::Int8, {2}, {{1.0F}, {0}});
        const int b = w.input("b", Type::Int8, {2}, {{1.0F}, {0}});
        const int y = w.output("y", Type::Int8, {2}, {{1.0F}, {0}});
        w.op(op, {a, b}, {y});
        EXPECT_EQ(numbersOf(w, {{"a", bytes({2}, {3, 7})}, {"b", bytes({2}, {1, 1})}}), wanted)
            << op;
    }
}

TEST(TfliteOperator, SoftmaxOfBytesHasTheFixedScale)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 2}, {{1.0F}, {0}});
    const int y = w.output("y", Type::Int8, {1, 2}, {{1.0F / 256}, {-128}});
    w.op("SOFTMAX", {x}, {y}, FlatOut().number(0, 1.0F));
    EXPECT_EQ(numbersOf(w, {{"x", bytes({1, 2}, {1, 0})}}), (Numbers{59, -59}));
}

TEST(TfliteOperator, QuantizesAndBack)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {4});
    const int q = w.tensor("q", Type::Int8, {4}, {{0.5F}, {-1}});
    const int r = w.tensor("r", Type::Int16, {4}, {{0.25F}, {0}});
    const int y = w.output("y", Type::Float32, {4});
    w.op("QUANTIZE", {x}, {q});
    w.op("QUANTIZE", {q}, {r});
    w.op("DEQUANTIZE", {r}, {y});
    EXPECT_EQ(numbersOf(w, {{"x", floats({4}, {0.6F, 100, -1, 0.25F})}}),
              (Numbers{0.5, 64, -1, 0}));
}

TEST(TfliteOperator, ConcatenationRescalesItsParts)
{
    TfliteWriter w;
    const int a = w.input("a", Type::Int8, {1, 2}, {{0.5F}, {0}});
    const int b = w.input("b", Type::Int8, {1, 1}, {{1.0F}, {1}});
    const int y = w.output("y", Type::Int8, {1, 3}, {{0.5F}, {0}});
    w.op("CONCATENATION", {a, b}, {y}, FlatOut().number(0, int32_t{-1}));
    EXPECT_EQ(numbersOf(w, {{"a", bytes({1, 2}, {3, 4})}, {"b", bytes({1, 1}, {5})}}),
              (Numbers{3, 4, 8}));
}

TEST(TfliteOperator, PadsIntegersWithTheirZeroPoint)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {2}, {{0.5F}, {7}});
    const int p = w.constant<int32_t>("p", Type::Int32, {1, 2}, {1, 2});
    const int y = w.output("y", Type::Int8, {5}, {{0.5F}, {7}});
    w.op("PAD", {x, p}, {y});
    EXPECT_EQ(numbersOf(w, {{"x", bytes({2}, {1, 2})}}), (Numbers{7, 1, 2, 7, 7}));
}

TEST(TfliteOperator, MirrorsWithAndWithoutTheBorder)
{
    for (const auto& [mode, wanted] :
         {std::pair<int8_t, Numbers>{0, {3, 2, 1, 2, 3, 2}}, {1, {2, 1, 1, 2, 3, 3}}}) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {3});
        const int p = w.constant<int32_t>("p", Type::Int32, {1, 2}, {2, 1});
        const int y = w.output("y", Type::Float32, {6});
        w.op("MIRROR_PAD", {x, p}, {y}, FlatOut().number(0, mode));
        EXPECT_EQ(numbersOf(w, {{"x", floats({3}, {1, 2, 3})}}), wanted);
    }
}

TEST(TfliteOperator, StridedSliceHasMasks)
{
    const Given x{{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
    const auto run = [&](std::vector<int32_t> result, const std::vector<std::vector<int32_t>>& c,
                         std::vector<int32_t> masks) {
        FlatOut options;
        for (size_t i = 0; i < masks.size(); ++i) options.number(static_cast<int>(i), masks[i]);
        return numbersOf(withIntegers("STRIDED_SLICE", {2, 3}, std::move(result), c, options), x);
    };
    EXPECT_EQ(run({2, 2}, {{0, 1}, {0, 3}, {1, 1}}, {0, 1}), (Numbers{2, 3, 5, 6})); // end mask
    EXPECT_EQ(run({3}, {{1, 0}, {2, 3}, {1, 1}}, {0, 0, 0, 0, 1}), (Numbers{4, 5, 6}));
    EXPECT_EQ(run({2, 3}, {{0, 0}, {0, 0}, {1, -1}}, {3, 3}), (Numbers{3, 2, 1, 6, 5, 4}));
    EXPECT_EQ(run({2, 1}, {{0, 1}, {0, 2}, {1, 1}}, {0, 0, 1}), (Numbers{2, 5})); // ellipsis
    EXPECT_EQ(run({1, 1, 3}, {{0, 1}, {0, 2}, {1, 1}}, {0, 0, 0, 1}), (Numbers{4, 5, 6}));
}

TEST(TfliteOperator, ResizesPixelsAsTheReferenceDoes)
{
    const Given x{{"x", floats({1, 1, 2, 1}, {0, 4})}};
    const auto run = [&](const std::string& op, int field) {
        return numbersOf(withIntegers(op, {1, 1, 2, 1}, {1, 1, 4, 1}, {{1, 4}},
                                      FlatOut().number(field, uint8_t{1})),
                         x);
    };
    EXPECT_EQ(run("RESIZE_BILINEAR", 3), (Numbers{0, 1, 3, 4}));
    EXPECT_EQ(run("RESIZE_BILINEAR", 0), (Numbers{0, 2, 4, 4}));
    EXPECT_EQ(run("RESIZE_NEAREST_NEIGHBOR", 5), (Numbers{0, 0, 4, 4}));
}

TEST(TfliteOperator, MovesBlocksBetweenSpaceAndDepth)
{
    const FlatOut two = FlatOut().number(0, int32_t{2});
    EXPECT_EQ(numbersOf(unary("SPACE_TO_DEPTH", {1, 2, 2, 2}, {1, 1, 1, 8}, two),
                        {{"x", floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}}),
              (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(numbersOf(unary("DEPTH_TO_SPACE", {1, 1, 2, 4}, {1, 2, 4, 1}, two),
                        {{"x", floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}}),
              (Numbers{1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST(TfliteOperator, MovesBlocksBetweenSpaceAndBatch)
{
    const Numbers there = numbersOf(
        withIntegers("SPACE_TO_BATCH_ND", {1, 2, 2, 1}, {4, 1, 1, 1}, {{2, 2}, {0, 0, 0, 0}}),
        {{"x", floats({1, 2, 2, 1}, {1, 2, 3, 4})}});
    EXPECT_EQ(there, (Numbers{1, 2, 3, 4}));
    const Numbers back = numbersOf(
        withIntegers("BATCH_TO_SPACE_ND", {4, 1, 2, 1}, {1, 2, 3, 1}, {{2, 2}, {0, 0, 1, 0}}),
        {{"x", floats({4, 1, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8})}});
    EXPECT_EQ(back, (Numbers{3, 2, 4, 7, 6, 8}));
}

TEST(TfliteOperator, ReducesAxesOfPictures)
{
    const Given x{{"x", floats({1, 2, 1, 2}, {1, 2, 3, 4})}};
    EXPECT_EQ(numbersOf(withIntegers("MEAN", {1, 2, 1, 2}, {1, 2}, {{1, 2}}), x), (Numbers{2, 3}));
    EXPECT_EQ(numbersOf(withIntegers("REDUCE_MAX", {1, 2, 1, 2}, {1, 2, 1}, {{3}}), x),
              (Numbers{2, 4}));
}

TEST(TfliteOperator, WeighsMemoryOverTime)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2});
    const int f = w.constant<float>("f", Type::Float32, {2, 2}, {1, 1, 2, 0});
    const int t = w.constant<float>("t", Type::Float32, {2, 3}, {9, 9, 2, 9, 9, 3});
    const int b = w.constant<float>("b", Type::Float32, {1}, {0.5F});
    const int s = w.variable("s", Type::Float32, {1, 6});
    const int y = w.output("y", Type::Float32, {1, 1});
    w.op("SVDF", {x, f, t, b, s}, {y}, FlatOut().number(0, int32_t{2}));
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 2}, {1, 2})}}), (Numbers{12.5})); // 3*2 + 2*3 + 0.5
}

TEST(TfliteOperator, RunsTheStepsOfAnLstm)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2, 1});
    std::vector<int32_t> inputs{x};
    for (int i = 0; i < 4; ++i)
        inputs.push_back(w.constant<float>("w" + std::to_string(i), Type::Float32, {1, 1}, {1}));
    for (int i = 0; i < 4; ++i)
        inputs.push_back(w.constant<float>("r" + std::to_string(i), Type::Float32, {1, 1}, {0.5F}));
    inputs.insert(inputs.end(), {-1, -1, -1});
    for (int i = 0; i < 4; ++i)
        inputs.push_back(w.constant<float>("b" + std::to_string(i), Type::Float32, {1}, {0}));
    inputs.insert(inputs.end(), {-1, -1, w.variable("h", Type::Float32, {1, 1}),
                                 w.variable("c", Type::Float32, {1, 1})});
    const int y = w.output("y", Type::Float32, {1, 2, 1});
    w.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, {y}, FlatOut().number(0, int8_t{4}));
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    double h = 0, c = 0;
    Numbers wanted;
    for (const double v : {1.0, -0.5}) {
        const double in = v + 0.5 * h;
        c = sigmoid(in) * c + sigmoid(in) * std::tanh(in);
        h = sigmoid(in) * std::tanh(c);
        wanted.push_back(h);
    }
    const Numbers got = numbersOf(w, {{"x", floats({1, 2, 1}, {1, -0.5F})}});
    ASSERT_EQ(got.size(), 2u);
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6);
}

TEST(TfliteOperator, UpdatesASliceWhereTheInputSays)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {4});
    const int u = w.input("u", Type::Float32, {2});
    const int s = w.input("s", Type::Int32, {1});
    const int y = w.output("y", Type::Float32, {4});
    w.op("DYNAMIC_UPDATE_SLICE", {x, u, s}, {y});
    const auto at = [&](int32_t start) {
        return numbersOf(w, {{"x", floats({4}, {1, 2, 3, 4})},
                             {"u", floats({2}, {8, 9})},
                             {"s", Tensor::of<int32_t>(core::kInt32, {1}, {start})}});
    };
    EXPECT_EQ(at(1), (Numbers{1, 8, 9, 4}));
    EXPECT_EQ(at(7), (Numbers{1, 2, 8, 9})); // it stays inside
}

TEST(TfliteOperator, AddsUpdatesThatMeet)
{
    TfliteWriter w;
    const int i = w.constant<int32_t>("i", Type::Int32, {3, 1}, {1, 3, 1});
    const int u = w.input("u", Type::Float32, {3});
    const int s = w.constant<int32_t>("s", Type::Int32, {1}, {4});
    const int y = w.output("y", Type::Float32, {4});
    w.op("SCATTER_ND", {i, u, s}, {y});
    EXPECT_EQ(numbersOf(w, {{"u", floats({3}, {1, 2, 4})}}), (Numbers{0, 5, 0, 2}));
}

} // namespace
} // namespace tenon::test
