// SPDX-License-Identifier: Apache-2.0
// WHERE, suppression of boxes, reversed sequences and films, values by hand.
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;

/// Three boxes of a row, the second over the first.
TfliteWriter suppression(const std::string& op, float sigma)
{
    TfliteWriter w;
    std::vector<int32_t> inputs{w.constant<float>("boxes", Type::Float32, {3, 4},
                                                  {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 5, 1, 6}),
                                w.input("scores", Type::Float32, {3}),
                                w.constant<int32_t>("most", Type::Int32, {}, {4}),
                                w.constant<float>("overlap", Type::Float32, {}, {0.5F}),
                                w.constant<float>("least", Type::Float32, {}, {0.1F})};
    std::vector<int32_t> outputs{w.output("chosen", Type::Int32, {4})};
    if (op.back() == '5') {
        inputs.push_back(w.constant<float>("sigma", Type::Float32, {}, {sigma}));
        outputs.push_back(w.output("kept", Type::Float32, {4}));
    }
    outputs.push_back(w.output("count", Type::Int32, {}));
    w.op(op, inputs, outputs);
    return w;
}

TEST(TfliteSelection, KeepsTheBestOfBoxesThatOverlap)
{
    const Given scores{{"scores", floats({3}, {0.5F, 0.75F, 0.25F})}};
    const auto four = resultsOf(suppression("NON_MAX_SUPPRESSION_V4", 0), scores);
    ASSERT_EQ(four.size(), 2u);
    EXPECT_EQ(four[0].numbers(), (Numbers{1, 2, 0, 0}));
    EXPECT_EQ(four[1].numbers(), (Numbers{2}));
    const auto five = resultsOf(suppression("NON_MAX_SUPPRESSION_V5", 0), scores);
    ASSERT_EQ(five.size(), 3u);
    EXPECT_EQ(five[0].numbers(), (Numbers{1, 2, 0, 0}));
    EXPECT_EQ(five[1].numbers(), (Numbers{0.75, 0.25, 0, 0}));
    EXPECT_EQ(five[2].numbers(), (Numbers{2}));
}

TEST(TfliteSelection, RefusesSoftSuppression)
{
    const auto bytes = suppression("NON_MAX_SUPPRESSION_V5", 0.5F).file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    ASSERT_TRUE(loaded);
    ASSERT_FALSE(loaded->diagnostics.empty());
    EXPECT_NE(loaded->diagnostics[0].text().find("sigma must be 0"), std::string::npos)
        << loaded->diagnostics[0].text();
}

TEST(TfliteSelection, WhereGivesAsManyRowsAsThereAre)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 3});
    const int y = w.output("y", Type::Int64, {1, 2});
    w.op("WHERE", {x}, {y});
    const auto bytes = w.file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    for (const core::Diagnostic& d : loaded->diagnostics)
        EXPECT_NE(d.severity, core::Severity::Error) << d.text();
    const core::Shape& shape = loaded->module.type(loaded->module.main().results.at(0)).shape;
    ASSERT_EQ(shape.size(), 2u);
    EXPECT_FALSE(shape[0].isConst());
    EXPECT_EQ(shape[1], core::Dim(2));
}

TEST(TfliteSelection, ReversesTheBeginningOfEachSequence)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 3});
    const int n = w.input("n", Type::Int32, {2});
    const int y = w.output("y", Type::Float32, {2, 3});
    w.op("REVERSE_SEQUENCE", {x, n}, {y}, FlatOut().number(0, int32_t{1}).number(1, int32_t{0}));
    EXPECT_EQ(numbersOf(w, {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})},
                            {"n", Tensor::of<int32_t>(core::kInt32, {2}, {3, 2})}}),
              (Numbers{3, 2, 1, 5, 4, 6}));
}

TEST(TfliteSelection, ConvolvesFilms)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2, 1, 2, 1});
    const int k = w.constant<float>("k", Type::Float32, {2, 1, 2, 1, 1}, {1, 10, 100, 1000});
    const int y = w.output("y", Type::Float32, {1, 2, 1, 2, 1});
    w.op("CONV_3D", {x, k}, {y},
         FlatOut()
             .number(0, int8_t{0})
             .number(1, int32_t{1})
             .number(2, int32_t{1})
             .number(3, int32_t{1}));
    // SAME pads behind: frames [1 2] and [3 4].
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 2, 1, 2, 1}, {1, 2, 3, 4})}}),
              (Numbers{4321, 402, 43, 4}));
}

} // namespace
} // namespace tenon::test
