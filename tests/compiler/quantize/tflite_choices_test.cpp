// SPDX-License-Identifier: Apache-2.0
// Operators that choose, and what shapes decide, beyond what the files of one operator each show.
#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/tflite_document.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

using test::countOf;
using test::FlatOut;
using test::sameDocument;
using test::TfliteWriter;
using Type = test::TfliteType;

/// How many there are is known at run time only, so that nothing here can evaluate it.
TEST(TfliteChoices, PlacesAreARowEach)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {3, 4});
    w.op("WHERE", {x}, {w.output("y", Type::Int64, {12, 2})});
    const auto made = readTfliteDocument(w.file(), "m.tflite");
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_EQ(made->graph().node_size(), 2);
    EXPECT_EQ(made->graph().node(0).op_type(), "NonZero");
    EXPECT_EQ(integersOf(made->graph().node(1), "perm"), (std::vector<int64_t>{1, 0}));
}

/// As Keras writes a state, a table or a cut for any batch.
TEST(TfliteChoices, SizesOutOfShapesAreConstants)
{
    TfliteWriter w;
    const auto list = [&](const std::string& name, const std::vector<int32_t>& values) {
        return w.constant<int32_t>(name, Type::Int32, {static_cast<int32_t>(values.size())},
                                   values);
    };
    const int x = w.input("x", Type::Float32, {2, 3});
    const int shape = w.tensor("shape", Type::Int32, {2}),
              batch = w.tensor("batch", Type::Int32, {}),
              times = w.tensor("times", Type::Int32, {2}),
              more = w.tensor("more", Type::Int32, {2});
    const int one = w.constant<int32_t>("one", Type::Int32, {}, {1});
    w.op("SHAPE", {x}, {shape}, FlatOut().number(0, static_cast<int8_t>(Type::Int32)));
    w.op("STRIDED_SLICE", {shape, list("b", {0}), list("e", {1}), list("s", {1})}, {batch},
         FlatOut().number(4, 1));
    w.op("PACK", {batch, one}, {times}, FlatOut().number(0, 2));
    w.op("MUL", {times, list("two", {2, 1})}, {more});
    const int row = w.constant<float>("row", Type::Float32, {1, 3}, {1, 2, 3});
    const int tiled = w.tensor("tiled", Type::Float32, {2, 3});
    w.op("TILE", {row, times}, {tiled});
    const int sum = w.output("sum", Type::Float32, {2, 3});
    w.op("ADD", {x, tiled}, {sum});
    w.op("TILE", {x, more}, {w.output("tall", Type::Float32, {8, 3})});
    w.op("SHAPE", {sum}, {w.output("sizes", Type::Int32, {2})},
         FlatOut().number(0, static_cast<int8_t>(Type::Int32)));
    const auto made = sameDocument(w);
    ASSERT_EQ(made.graph().node_size(), 2);
    EXPECT_EQ(countOf(made, "Add"), 1);
    EXPECT_EQ(countOf(made, "Tile"), 1);
}

/// Between convolutions comparisons and choices keep the order of axes that those have.
TEST(TfliteChoices, PicturesStayWithChannelsInFront)
{
    TfliteWriter w;
    const std::vector<int32_t> shape{1, 4, 4, 2};
    const std::vector<float> numbers{0.5F, -1, 2, 0.25F};
    const int x = w.input("x", Type::Float32, shape), c = w.tensor("c", Type::Float32, shape),
              m = w.tensor("m", Type::Bool, shape), n = w.tensor("n", Type::Bool, shape),
              s = w.tensor("s", Type::Float32, shape), y = w.output("y", Type::Float32, shape);
    const int kernel = w.constant<float>("w", Type::Float32, {2, 1, 1, 2}, numbers),
              zero = w.constant<float>("zero", Type::Float32, {}, {0.0F});
    const FlatOut options = FlatOut().number(1, 1).number(2, 1);
    w.op("CONV_2D", {x, kernel, -1}, {c}, options);
    w.op("NOT_EQUAL", {c, zero}, {m});
    w.op("LOGICAL_NOT", {m}, {n});
    w.op("SELECT_V2", {n, zero, c}, {s});
    w.op("CONV_2D", {s, kernel, -1}, {y}, options);
    EXPECT_EQ(countOf(sameDocument(w), "Transpose"), 2) << "the input and the result";
}

/// Their channels are in front between convolutions, but for what is made for pictures.
TEST(TfliteChoices, FilmsKeepTheOrderOfAxes)
{
    TfliteWriter w;
    const std::vector<int32_t> shape{1, 3, 4, 5, 2};
    const int x = w.input("x", Type::Float32, shape), a = w.tensor("a", Type::Float32, shape),
              r = w.tensor("r", Type::Float32, shape), b = w.tensor("b", Type::Float32, shape),
              p = w.tensor("p", Type::Float32, {1, 3, 5, 5, 2});
    const int kernel = w.constant<float>("w", Type::Float32, {1, 1, 1, 2, 2}, {0.5F, -1, 2, 0.25F}),
              slope = w.constant<float>("slope", Type::Float32, {1, 1, 1, 2}, {0.5F, -2}),
              axes = w.constant<int32_t>("axes", Type::Int32, {2}, {1, 2}),
              pads =
                  w.constant<int32_t>("pads", Type::Int32, {5, 2}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    const FlatOut options = FlatOut().number(1, 1).number(2, 1).number(3, 1);
    w.op("CONV_3D", {x, kernel, -1}, {a}, options);
    w.op("PRELU", {a, slope}, {r});
    w.op("CONV_3D", {r, kernel, -1}, {b}, options);
    w.op("PAD", {b, pads}, {p});
    w.op("MEAN", {p, axes}, {w.output("y", Type::Float32, {1, 5, 2})});
    w.op("MEAN", {b, axes}, {w.output("z", Type::Float32, {1, 1, 1, 5, 2})},
         FlatOut().number(0, uint8_t{1}));
    EXPECT_EQ(countOf(sameDocument(w), "Conv"), 2);
}

TEST(TfliteChoices, SaysWhichSequencesItDoesNotTurn)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 3, 4}), n = w.input("n", Type::Int32, {2});
    w.op("REVERSE_SEQUENCE", {x, n}, {w.output("y", Type::Float32, {2, 3, 4})},
         FlatOut().number(0, 2).number(1, 0));
    const std::string refusal = test::refusalOf(w);
    EXPECT_NE(refusal.find("its sequences lie along another axis than the first two"),
              std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find("REVERSE_SEQUENCE"), std::string::npos) << refusal;
}

} // namespace
} // namespace tenon::compiler
