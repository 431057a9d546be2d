// SPDX-License-Identifier: Apache-2.0
// The custom operators that MediaPipe's models hold: values by hand.
#include "compiler/frontend/tflite/file/flexbuffer.h"
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;

/// A struct of 32-bit integers as an operator's kernel reads it.
FlexBytes structOf(const std::vector<int32_t>& numbers)
{
    FlexBytes out;
    for (const int32_t number : numbers) appendWord(out, static_cast<uint32_t>(number));
    return out;
}

void expectNear(const Numbers& got, const Numbers& wanted)
{
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5) << i;
}

/// The matrix that cuts out three points, of which the first two make the line that is turned.
Numbers matrixOf(const std::vector<float>& points, std::map<std::string, float> options)
{
    TfliteWriter w;
    options.insert({{"left_rotation_idx", 0}, {"right_rotation_idx", 1}});
    w.op("Landmarks2TransformMatrix", {w.input("x", Type::Float32, {1, 3, 3})},
         {w.output("y", Type::Float32, {1, 4, 4})}, {},
         flexMap(options, {{"subset_idxs", {0, 1, 2}}}));
    return numbersOf(w, {{"x", floats({1, 3, 3}, points)}});
}

TEST(TfliteLandmarks, AreCutOutByTheBoxAroundThem)
{
    expectNear(matrixOf({1, 1, 9, 3, 1, 9, 2, 5, 9}, {{"output_width", 4},
                                                      {"output_height", 8},
                                                      {"scale_x", 1.5F},
                                                      {"scale_y", 1},
                                                      {"target_rotation_radians", 0}}),
               {0.75, 0, 0, 0.5, 0, 0.5, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1});
}

TEST(TfliteLandmarks, AreTurnedUprightBeforeTheyAreCutOut)
{
    const std::map<std::string, float> options{
        {"output_width", 2}, {"output_height", 4}, {"scale_x", 1}, {"scale_y", 1}};
    expectNear(matrixOf({0, 0, 0, 0, 2, 0, 4, 1, 0}, options),
               {0, -1, 0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    // Two points in one place make no line: nothing is turned.
    expectNear(matrixOf({1, 1, 0, 1, 1, 0, 3, 5, 0}, options),
               {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1});
}

TEST(TfliteLandmarks, AreMovedByAMatrix)
{
    const Tensor matrix = floats({1, 4, 4}, {2, 3, 99, 5, 7, 11, 99, 13, 0, 0, 1, 0, 0, 0, 0, 1});
    const auto moved = [&](int32_t size, const std::vector<float>& points) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {1, 2, size});
        w.op("TransformLandmarks", {x, w.input("m", Type::Float32, {1, 4, 4})},
             {w.output("y", Type::Float32, {1, 2, size})}, {}, flexMap({{"version", 2}}));
        return numbersOf(w, {{"x", floats({1, 2, size}, points)}, {"m", matrix}});
    };
    EXPECT_EQ(moved(3, {1, 2, 17, 0, -1, 19}), (Numbers{13, 42, 17, 2, 2, 19}));
    EXPECT_EQ(moved(2, {1, 2, 0, -1}), (Numbers{13, 42, 2, 2}));
}

TEST(TfliteLandmarks, PicturesAreReadBetweenPixels)
{
    const auto through = [](const std::vector<float>& rows) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {1, 2, 2, 2});
        w.op("TransformTensorBilinear", {x, w.input("m", Type::Float32, {1, 4, 4})},
             {w.output("y", Type::Float32, {1, 2, 2, 2})}, {},
             flexMap({{"output_height", 2}, {"output_width", 2}}));
        std::vector<float> matrix = rows;
        matrix.insert(matrix.end(), {0, 0, 1, 0, 0, 0, 0, 1});
        return numbersOf(w, {{"x", floats({1, 2, 2, 2}, {1, -1, 2, -2, 3, -3, 4, -4})},
                             {"m", floats({1, 4, 4}, matrix)}});
    };
    EXPECT_EQ(through({1, 0, 0, 0, 0, 1, 0, 0}), (Numbers{1, -1, 2, -2, 3, -3, 4, -4}));
    EXPECT_EQ(through({0.5F, 0, 0, 0, 0, 0.5F, 0, 0}), (Numbers{0, 0, 0, 0, 0, 0, 1.75, -1.75}))
        << "points outside of the picture are zeros";
}

TEST(TfliteLandmarks, PicturesAreReadAtPoints)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 2, 2, 1});
    w.op("Resampler", {x, w.input("at", Type::Float32, {2, 3, 2})},
         {w.output("y", Type::Float32, {2, 3, 1})});
    EXPECT_EQ(numbersOf(w, {{"x", floats({2, 2, 2, 1}, {1, 2, 3, 4, 10, 20, 30, 40})},
                            {"at", floats({2, 3, 2}, {0.5F, 0.5F, -0.5F, 0, 2, 0, //
                                                      1, 1, 1.5F, 0.5F, 0, -1})}}),
              (Numbers{2.5, 0.5, 0, 40, 15, 0}));
}

TEST(TfliteLandmarks, PoolingSaysWhereTheMaximaWere)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2, 3, 1});
    w.op("MaxPoolingWithArgmax2D", {x},
         {w.output("most", Type::Float32, {1, 1, 2, 1}),
          w.output("where", Type::Float32, {1, 1, 2, 1})},
         {}, structOf({1, 2, 2, 2, 2, 0}));
    const auto got = resultsOf(w, {{"x", floats({1, 2, 3, 1}, {1, 5, -2, 7, 3, -9})}});
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].numbers(), (Numbers{7, -2}));
    expectNear(got[1].numbers(), {2.1, 0.1});
}

TEST(TfliteLandmarks, UnpoolingPutsThemBack)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 1, 2, 1});
    w.op("MaxUnpooling2D", {x, w.input("where", Type::Float32, {1, 1, 2, 1})},
         {w.output("y", Type::Float32, {1, 2, 4, 1})}, {}, structOf({1, 2, 2, 2, 2, 0}));
    EXPECT_EQ(numbersOf(w, {{"x", floats({1, 1, 2, 1}, {7, -2})},
                            {"where", floats({1, 1, 2, 1}, {2.1F, 1.1F})}}),
              (Numbers{0, 0, 0, -2, 7, 0, 0, 0}));
}

TEST(TfliteLandmarks, TransposedConvolutionsHaveABias)
{
    const auto run = [](int32_t padding, int32_t width) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {1, 1, 2, 1});
        const int weight = w.constant<float>("w", Type::Float32, {1, 1, 3, 1}, {1, 10, 100});
        const int bias = w.constant<float>("b", Type::Float32, {1}, {0.5F});
        w.op("Convolution2DTransposeBias", {x, weight, bias},
             {w.output("y", Type::Float32, {1, 1, width, 1})}, {}, structOf({padding, 2, 1}));
        return numbersOf(w, {{"x", floats({1, 1, 2, 1}, {1, 2})}});
    };
    EXPECT_EQ(run(2, 5), (Numbers{1.5, 10.5, 102.5, 20.5, 200.5}));
    EXPECT_EQ(run(1, 4), (Numbers{1.5, 10.5, 102.5, 20.5}));
}

std::string refusal(const TfliteWriter& model)
{
    const std::vector<std::byte> bytes = model.file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    if (!loaded) return loaded.error().text();
    return loaded->diagnostics.empty() ? "" : loaded->diagnostics[0].text();
}

TEST(TfliteLandmarks, OptionsThatDoNotFitAreNamed)
{
    TfliteWriter points, pool, transposed;
    points.op("Landmarks2TransformMatrix", {points.input("x", Type::Float32, {1, 3, 3})},
              {points.output("y", Type::Float32, {1, 4, 4})}, {},
              flexMap({{"left_rotation_idx", 0}, {"right_rotation_idx", 3}}));
    EXPECT_NE(refusal(points).find("`right_rotation_idx` is to be a whole number from 0 to 2"),
              std::string::npos)
        << refusal(points);
    pool.op("MaxPoolingWithArgmax2D", {pool.input("x", Type::Float32, {1, 2, 2, 1})},
            {pool.output("y", Type::Float32, {1, 1, 1, 1})}, {}, structOf({1, 2}));
    EXPECT_NE(refusal(pool).find("its options have 8 bytes where 24 are needed"), std::string::npos)
        << refusal(pool);
    const int x = transposed.input("x", Type::Float32, {1, 1, 2, 1});
    transposed.op("Convolution2DTransposeBias",
                  {x, transposed.constant<float>("w", Type::Float32, {1, 1, 1, 1}, {1})},
                  {transposed.output("y", Type::Float32, {1, 1, 2, 1})}, {}, structOf({1, 0, 1}));
    EXPECT_NE(refusal(transposed).find("a stride of 0 is not usable"), std::string::npos)
        << refusal(transposed);
}

TEST(TfliteLandmarks, OptionsHoldLists)
{
    const FlexBytes whole = flexMap({{"b", 1.5F}}, {{"a", {3, -4}}, {"c", {}}});
    const auto got = compiler::flexLists(std::as_bytes(std::span(whole)));
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, (std::map<std::string, Numbers>{{"a", {3, -4}}, {"c", {}}}));
    for (size_t at = 0; at < whole.size(); ++at)
        for (const int value : {0, 1, 127, 255}) {
            FlexBytes bytes = whole;
            bytes[at] = static_cast<uint8_t>(value);
            compiler::flexLists(std::as_bytes(std::span(bytes)));
            compiler::flexLists(std::as_bytes(std::span(bytes)).subspan(0, at));
        }
}

} // namespace
} // namespace tenon::test
