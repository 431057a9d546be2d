// SPDX-License-Identifier: Apache-2.0
// Operators that write at places, beyond what the files of one operator each show.
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/compiler/quantize/tflite_comparison.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

using test::countOf;
using test::FlatOut;
using test::sameDocument;
using test::TfliteWriter;
using Sizes = std::vector<int32_t>;
using Type = test::TfliteType;

/// A part of a tensor of 3 x 4 x 2 that is written at a place of the file.
TfliteWriter update(const Sizes& part, const Sizes& place)
{
    TfliteWriter w;
    w.op("DYNAMIC_UPDATE_SLICE",
         {w.input("x", Type::Float32, {3, 4, 2}), w.input("part", Type::Float32, part),
          w.constant<int32_t>("place", Type::Int32, {3}, place)},
         {w.output("y", Type::Float32, {3, 4, 2})});
    return w;
}

TEST(TflitePlaces, APartIsWrittenInsideOfTheWhole)
{
    const auto made = sameDocument(update({2, 2, 1}, {1, 5, -1}));
    ASSERT_EQ(made.graph().node_size(), 1) << "its place is known";
    EXPECT_EQ(countOf(made, "ScatterND"), 1);
    // Two rows, each as a whole.
    const auto rows = sameDocument(update({3, 2, 2}, {0, 1, 0}));
    ASSERT_EQ(rows.graph().initializer_size(), 1);
    EXPECT_EQ(rows.graph().initializer(0).dims(2), 2) << "the last axis needs no place";
    EXPECT_EQ(countOf(sameDocument(update({3, 4, 2}, {1, 1, 1})), "Identity"), 1);
}

/// As a decoder writes into its cache.
TEST(TflitePlaces, AnAxisBehindThePlaceIsWrittenAtOnce)
{
    for (const int32_t place : {0, 2, 3, 9}) {
        TfliteWriter w;
        w.op("DYNAMIC_UPDATE_SLICE",
             {w.input("x", Type::Float32, {1, 4, 5}), w.input("part", Type::Float32, {1, 1, 5}),
              w.input("place", Type::Int32, {3})},
             {w.output("y", Type::Float32, {1, 4, 5})});
        const auto made =
            sameDocument(w, {{"place", Tensor::of<int32_t>(kInt32, {3}, {0, place, 0})}});
        for (const auto& constant : made.graph().initializer())
            EXPECT_LE(constant.raw_data().size(), 2 * sizeof(int64_t)) << constant.name();
    }
}

TEST(TflitePlaces, KnownSegmentsTakeTheirRows)
{
    for (const char* op : {"UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD",
                           "UNSORTED_SEGMENT_SUM"}) {
        TfliteWriter w;
        w.op(op,
             {w.input("x", Type::Float32, {2, 3, 4}),
              w.constant<int32_t>("ids", Type::Int32, {2, 3}, {4, 0, -1, 4, 9, 1}),
              w.constant<int32_t>("count", Type::Int32, {}, {6})},
             {w.output("y", Type::Float32, {6, 4})});
        sameDocument(w);
    }
    TfliteWriter w;
    w.op("SEGMENT_SUM",
         {w.input("x", Type::Float32, {4}),
          w.constant<int32_t>("ids", Type::Int32, {4}, {0, 0, 1, 2})},
         {w.output("y", Type::Float32, {3})});
    EXPECT_EQ(countOf(sameDocument(w), "ReduceSum"), 1);
}

TEST(TflitePlaces, SegmentsOfTheRunHaveNoKnownNumber)
{
    TfliteWriter w;
    w.op("SEGMENT_SUM", {w.input("x", Type::Float32, {4, 2}), w.input("ids", Type::Int32, {4})},
         {w.output("y", Type::Float32, {3, 2})});
    const std::string refusal = test::refusalOf(w);
    EXPECT_NE(refusal.find("its input `ids` is no constant"), std::string::npos) << refusal;
}

/// Between convolutions the grid does not move the channels.
TEST(TflitePlaces, AGridKeepsTheOrderOfAxes)
{
    TfliteWriter w;
    const Sizes shape{1, 4, 4, 2};
    const int x = w.input("x", Type::Float32, shape), c = w.tensor("c", Type::Float32, shape),
              g = w.tensor("g", Type::Float32, shape), y = w.output("y", Type::Float32, shape);
    const int kernel = w.constant<float>("w", Type::Float32, {2, 1, 1, 2}, {0.5F, -1, 2, 0.25F});
    const FlatOut options = FlatOut().number(1, 1).number(2, 1);
    w.op("CONV_2D", {x, kernel, -1}, {c}, options);
    w.op("FAKE_QUANT", {c}, {g},
         FlatOut().number(0, -1.5F).number(1, 2.25F).number(2, 4).number(3, uint8_t{1}));
    w.op("CONV_2D", {g, kernel, -1}, {y}, options);
    EXPECT_EQ(countOf(sameDocument(w), "Transpose"), 2) << "the input and the result";
}

TEST(TflitePlaces, ShapesThatBroadcastAreConstants)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {3, 1}), shape = w.tensor("shape", Type::Int32, {2}),
              both = w.tensor("both", Type::Int32, {3});
    w.op("SHAPE", {x}, {shape}, FlatOut().number(0, static_cast<int8_t>(Type::Int32)));
    w.op("BROADCAST_ARGS", {shape, w.constant<int32_t>("more", Type::Int32, {3}, {2, 1, 4})},
         {both});
    w.op("BROADCAST_TO", {x, both}, {w.output("y", Type::Float32, {2, 3, 4})});
    EXPECT_EQ(sameDocument(w).graph().node_size(), 1);
}

} // namespace
} // namespace tenon::compiler
