// SPDX-License-Identifier: Apache-2.0
// Compiled Winograd convolutions against direct ones in binary64: the error stays within what the
// choice between them expects.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/passes/layout/quantized_winograd.h"
#include "compiler/schedule/rules.h"
#include "core/target/target.h"
#include "tests/compiler/ops/compiled_op.h"
#include "tests/compiler/ops/op_case.h"
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tenon::compiler {
namespace {

struct Case
{
    int64_t tile, in, out, height, width, pad;
    bool isTransformedInKernel = false;
    std::array<int64_t, 2> kernel{3, 3}, stride{1, 1};
    int64_t tileColumns = 0; ///< 0: as many as rows
    int64_t groups = 1;

    WinogradTile tiles() const { return {tile, tileColumns == 0 ? tile : tileColumns}; }
    int64_t padAlong(size_t axis) const { return kernel[axis] == 1 ? 0 : pad; }
    int64_t resultsAlong(size_t axis) const
    {
        const int64_t size = (axis == 0 ? height : width) + 2 * padAlong(axis);
        return (size - kernel[axis]) / stride[axis] + 1;
    }
    ConvolutionSize size() const
    {
        return {1, in / groups, out, resultsAlong(0), resultsAlong(1), kernel, stride, groups};
    }
};

std::string pairText(int64_t first, int64_t second)
{
    return "[" + std::to_string(first) + ", " + std::to_string(second) + "]";
}

std::string typed(const std::string& name, const Tensor& value)
{
    const std::vector<int64_t>& shape = value.shape();
    return name + ": " + TensorType{value.dtype(), Shape(shape.begin(), shape.end())}.text();
}

Tensor winograd(const Case& c, const Tensor& data, const Tensor& weight)
{
    const std::string block = std::to_string(c.in % 16 == 0 ? 16 : 4);
    const std::string kernel = c.isTransformedInKernel ? "OIHW1i16o" : "OHWI" + block + "i16o";
    const Tensor blocked =
        test::evaluated(test::layoutMove(data, "NCHW", "NCHW" + block + "c"), {data});
    const std::string transform =
        "nn.contrib_conv2d_winograd_weight_transform(%w, kernel_layout=\"" + kernel +
        "\", strides=" + pairText(c.stride[0], c.stride[1]) +
        ", tile_size=" + pairText(c.tiles().rows, c.tiles().columns) + ")";
    const std::string layout =
        "layout_transform(%w, dst_layout=\"" + kernel + "\", src_layout=\"OIHW\")";
    const Tensor packed = test::evaluated(test::typeText("%w", weight.shape()) + " => " +
                                              (c.isTransformedInKernel ? layout : transform),
                                          {weight});
    const std::string pad = std::to_string(c.padAlong(0)) + ", " + std::to_string(c.padAlong(1));
    const Tensor out =
        test::compiled(
            test::typeText("%x", blocked.shape()) + ", " + test::typeText("%w", packed.shape()) +
                " => nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout=\"NCHW" + block +
                "c\", kernel_layout=\"" + kernel + "\", out_layout=\"NCHW16c\", padding=[" + pad +
                ", " + pad + "], groups=" + std::to_string(c.groups) +
                ", kernel_size=" + pairText(c.kernel[0], c.kernel[1]) +
                ", strides=" + pairText(c.stride[0], c.stride[1]) +
                ", tile_size=" + pairText(c.tiles().rows, c.tiles().columns) + ")",
            {blocked, packed}, "conv2d_winograd")
            .reshaped({1, c.out / 16, c.resultsAlong(0), c.resultsAlong(1), 16});
    return test::evaluated(test::layoutMove(out, "NCHW16c", "NCHW"), {out});
}

double directAt(const Case& c, const Tensor& data, const Tensor& weight,
                const std::array<int64_t, 3>& at)
{
    const auto x = data.as<float>(), w = weight.as<float>();
    double sum = 0;
    const int64_t ins = c.in / c.groups, first = at[0] / (c.out / c.groups) * ins;
    for (int64_t own = 0; own < ins; ++own)
        for (int64_t i = 0; i < c.kernel[0]; ++i)
            for (int64_t j = 0; j < c.kernel[1]; ++j) {
                const int64_t row = at[1] * c.stride[0] + i - c.padAlong(0);
                const int64_t column = at[2] * c.stride[1] + j - c.padAlong(1);
                if (row < 0 || column < 0 || row >= c.height || column >= c.width) continue;
                const int64_t from = ((first + own) * c.height + row) * c.width + column;
                const int64_t filter = ((at[0] * ins + own) * c.kernel[0] + i) * c.kernel[1] + j;
                sum += static_cast<double>(x[static_cast<size_t>(from)]) *
                       static_cast<double>(w[static_cast<size_t>(filter)]);
            }
    return sum;
}

/// Of a factor of two: samples are small.
void expectWithinError(const Case& c)
{
    const Tensor data = test::normal({1, c.in, c.height, c.width}, 7);
    const Tensor weight = test::normal({c.out, c.in / c.groups, c.kernel[0], c.kernel[1]}, 8);
    const Tensor got = winograd(c, data, weight);
    const int64_t rows = c.resultsAlong(0), columns = c.resultsAlong(1);
    ASSERT_EQ(got.shape(), (std::vector<int64_t>{1, c.out, rows, columns}));
    double error = 0, size = 0;
    for (int64_t i = 0; i < got.size(); ++i) {
        const double wanted =
            directAt(c, data, weight, {i / (rows * columns), i / columns % rows, i % columns});
        error += (got.number(i) - wanted) * (got.number(i) - wanted);
        size += wanted * wanted;
    }
    const double relative = std::sqrt(error / size);
    EXPECT_LT(relative, 2 * winogradError(c.size(), c.tiles()))
        << tilesText(c.tiles()) << " of " << c.kernel[0] << " x " << c.kernel[1] << ", " << c.in;
    ::testing::Test::RecordProperty("rms_" + std::to_string(c.tile) + "_" +
                                        std::to_string(c.kernel[1]) + "_" + std::to_string(c.in) +
                                        (c.isTransformedInKernel ? "_in_kernel" : ""),
                                    std::to_string(relative / winogradError(c.size(), c.tiles())));
}

TEST(Winograd, StaysWithinTheExpectedError)
{
    const Case cases[] = {
        {4, 64, 32, 12, 12, 1},       {4, 16, 16, 5, 11, 0},        {4, 256, 16, 7, 7, 1},
        {4, 4, 16, 1, 1, 1},          {2, 64, 32, 12, 12, 1},       {2, 16, 16, 5, 11, 0},
        {2, 256, 16, 7, 7, 1},        {4, 20, 48, 9, 3, 2},         {4, 64, 32, 12, 12, 1, true},
        {4, 256, 16, 7, 7, 1, true},  {4, 4, 16, 1, 1, 1, true},    {2, 64, 32, 12, 12, 1, true},
        {2, 256, 16, 7, 7, 1, true},  {4, 20, 48, 9, 3, 2, true},   {4, 96, 16, 14, 14, 1, true},
        {2, 16, 16, 5, 11, 0, true},  {4, 32, 16, 7, 8, 1, true},   {4, 32, 16, 4, 15, 1, true},
        {2, 32, 16, 3, 3, 1, true},   {4, 48, 16, 13, 13, 1, true}, {4, 32, 16, 6, 5, 1, true},
        {4, 32, 16, 10, 30, 1, true}, {4, 16, 32, 22, 34, 1, true}, {2, 32, 16, 9, 11, 1, true},
    };
    for (const Case& c : cases) expectWithinError(c);
}

TEST(Winograd, StaysWithinTheExpectedErrorForEveryWindow)
{
    constexpr std::array<int64_t, 2> kOnes{1, 1}, kTwos{2, 2};
    const Case cases[] = {
        {2, 32, 16, 9, 11, 2, false, {5, 5}},
        {3, 32, 16, 11, 8, 1, false, {4, 4}},
        {3, 16, 32, 9, 9, 0, false, {2, 2}},
        {5, 64, 16, 13, 10, 1, false, {2, 2}},
        {3, 16, 16, 7, 9, 1, false, {2, 3}, kOnes, 2},
        {2, 16, 16, 8, 8, 1, false, {5, 3}, kOnes, 4},
        {1, 64, 16, 1, 33, 1, false, {1, 3}, kOnes, 4},
        {1, 64, 16, 3, 29, 1, false, {1, 3}, kOnes, 6},
        {4, 32, 16, 19, 3, 1, false, {3, 1}, kOnes, 1},
        {1, 48, 16, 1, 40, 2, false, {1, 5}, kOnes, 4},
        {1, 48, 16, 1, 41, 2, false, {1, 5}, kOnes, 2},
        {1, 32, 16, 1, 25, 3, false, {1, 7}, kOnes, 2},
        {2, 16, 16, 20, 2, 0, false, {7, 1}, kOnes, 1},
        {1, 20, 16, 1, 25, 3, false, {1, 4}, kOnes, 5},
        {3, 32, 16, 13, 16, 1, false, {4, 4}, kTwos},
        {4, 16, 16, 17, 12, 2, false, {5, 5}, kTwos},
        {3, 16, 32, 18, 21, 3, false, {7, 7}, kTwos},
        {3, 16, 16, 9, 14, 1, false, {3, 3}, kTwos},
        {5, 16, 16, 14, 9, 1, false, {3, 3}, kTwos},
        {2, 32, 16, 14, 15, 1, false, {3, 3}, kTwos},
        {2, 16, 16, 9, 11, 0, false, {2, 2}},
        {2, 16, 16, 15, 13, 2, false, {5, 5}, kTwos},
        {1, 32, 16, 1, 50, 0, false, {1, 10}, {1, 5}, 5},
        {1, 16, 16, 2, 31, 1, false, {1, 3}, {1, 2}, 3},
        {2, 4, 16, 11, 10, 1, false, {3, 4}, {1, 2}, 3},
        {4, 64, 64, 9, 10, 1, false, {3, 3}, kOnes, 0, 4},
        {2, 32, 64, 7, 9, 1, false, {3, 3}, kOnes, 0, 2},
        {2, 64, 32, 10, 11, 1, false, {3, 3}, kTwos, 0, 2},
        {2, 96, 48, 8, 6, 2, false, {5, 5}, kOnes, 0, 3},
        {6, 64, 32, 13, 17, 1, false, {3, 3}},
        {4, 32, 16, 9, 14, 1, false, {3, 3}, kOnes, 6},
        {6, 32, 16, 14, 9, 1, false, {3, 3}, kOnes, 4},
        {4, 16, 16, 11, 8, 2, false, {5, 5}},
    };
    for (const Case& c : cases) expectWithinError(c);
}

/// Full ranges of bytes, extremes among them.
Tensor bytes(std::vector<int64_t> shape, unsigned seed, bool isExtreme)
{
    std::mt19937 random(seed);
    std::vector<int8_t> values(static_cast<size_t>(elementCount(shape)));
    for (int8_t& v : values) v = isExtreme ? int8_t{-128} : static_cast<int8_t>(random() & 255);
    return Tensor::of(kInt8, std::move(shape), values);
}

int64_t directInteger(const Case& c, const Tensor& data, const Tensor& weight,
                      const std::array<int64_t, 3>& at, int64_t padding)
{
    int64_t sum = 0;
    for (int64_t channel = 0; channel < c.in; ++channel)
        for (int64_t i = 0; i < weight.shape()[2]; ++i)
            for (int64_t j = 0; j < weight.shape()[3]; ++j) {
                const int64_t row = at[1] * c.stride[0] + i - c.pad;
                const int64_t column = at[2] * c.stride[1] + j - c.pad;
                const bool isInside = row >= 0 && column >= 0 && row < c.height && column < c.width;
                const int64_t from = (channel * c.height + row) * c.width + column;
                sum +=
                    (isInside ? data.integer(from) : padding) *
                    weight.integer(
                        ((at[0] * c.in + channel) * weight.shape()[2] + i) * weight.shape()[3] + j);
            }
    return sum;
}

std::string pairText(const std::array<int64_t, 2>& pair)
{
    return "[" + std::to_string(pair[0]) + ", " + std::to_string(pair[1]) + "]";
}

/// Products of the extremes overflow 32 bits on the way: 576 * 64 * 9 * 2^14 is more than 2^32.
void expectSameIntegers(const std::array<int64_t, 2>& window, const WinogradTile& tiles,
                        const std::array<int64_t, 2>& stride = {1, 1})
{
    for (Case c : {Case{4, 64, 16, 7, 9, 1}, Case{4, 4, 16, 3, 3, 1}, Case{4, 20, 48, 9, 3, 2},
                   Case{4, 16, 16, 7, 11, 0}}) {
        c.kernel = window;
        c.stride = stride;
        const IntegerTile tile{tiles, stride};
        for (const auto& [isExtreme, arePairs] :
             {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
            const Tensor data = bytes({1, c.in, c.height, c.width}, 7, isExtreme);
            const Tensor weight = bytes({c.out, c.in, window[0], window[1]}, 8, isExtreme);
            ASSERT_TRUE(isExactByWinograd(weight, tile));
            const Tensor halves = winogradWeightOfBytes(weight, tile, 4, 16);
            const Tensor points = arePairs ? inPairs(halves) : halves;
            const std::string moved = typed("%x", data) +
                                      " => layout_transform(%x, dst_layout=\"NCHW4c\", "
                                      "src_layout=\"NCHW\")";
            const Tensor blocked = test::evaluated(moved, {data});
            const std::string pad = std::to_string(c.pad);
            const std::string example =
                typed("%x", blocked) + ", " + typed("%w", points) +
                " => qnn.contrib_conv2d_winograd_NCHWc(%x, %w, out_layout=\"NCHW4c\", "
                "pad_value=-9, padding=[" +
                pad + ", " + pad + ", " + pad + ", " + pad +
                "], tile=" + pairText({tiles.rows, tiles.columns}) +
                ", kernel_size=" + pairText(window) + ", strides=" + pairText(stride) + ")";
            const Tensor defined = test::evaluated(example, {blocked, points});
            const int64_t rows = (c.height + 2 * c.pad - window[0]) / stride[0] + 1;
            const int64_t columns = (c.width + 2 * c.pad - window[1]) / stride[1] + 1;
            for (const Tensor& out :
                 {defined, test::compiled(example, {blocked, points}, "conv2d_winograd")}) {
                ASSERT_EQ(out.size(), c.out * rows * columns);
                for (int64_t o = 0; o < c.out; ++o)
                    for (int64_t at = 0; at < rows * columns; ++at)
                        ASSERT_EQ(
                            out.integer((o / 4 * rows * columns + at) * 4 + o % 4),
                            directInteger(c, data, weight, {o, at / columns, at % columns}, -9))
                            << c.in << " channels, " << o << ", " << at;
            }
        }
    }
}

TEST(Winograd, GivesTheSameIntegers)
{
    expectSameIntegers({3, 3}, {4, 4});
    expectSameIntegers({2, 2}, {2, 2});
    expectSameIntegers({2, 2}, {3, 3});
    expectSameIntegers({3, 2}, {4, 3});
    expectSameIntegers({2, 3}, {2, 2});
}

TEST(Winograd, GivesTheSameIntegersAlongOneAxis)
{
    expectSameIntegers({1, 2}, {1, 2});
    for (int64_t taps = 2; taps <= 3; ++taps)
        for (const int64_t points : {4, 6, 8})
            if (const int64_t tile = points + 1 - taps; tile > 1) {
                expectSameIntegers({1, taps}, {1, tile});
                expectSameIntegers({taps, 1}, {tile, 1});
            }
}

TEST(Winograd, GivesTheSameIntegersOfRowsThatAreNotTransformed)
{
    expectSameIntegers({3, 3}, {1, 6});
    expectSameIntegers({5, 5}, {1, 4});
    expectSameIntegers({2, 3}, {1, 2});
}

TEST(Winograd, GivesTheSameIntegersOfStrides)
{
    expectSameIntegers({3, 3}, {3, 2}, {2, 2});
    expectSameIntegers({1, 3}, {1, 5}, {1, 2});
    expectSameIntegers({5, 1}, {6, 1}, {2, 1});
}

TEST(Winograd, IsChosenByCostWithinTheBudget)
{
    EXPECT_EQ(winogradForm({1, 128, 128, 96, 96}, {16, kWinogradMaxError}).tile,
              (WinogradTile{4, 4})); // 7 times the filters
    const ConvolutionSize early{1, 64, 64, 96, 96};
    EXPECT_EQ(winogradForm(early, {16, kWinogradMaxError}).tile, (WinogradTile{6, 6}));
    EXPECT_EQ(winogradForm(early, {16, 2e-6}).tile, (WinogradTile{4, 4}));
    EXPECT_EQ(winogradForm(early, {16, 1e-6}).tile, (WinogradTile{2, 2}));
    EXPECT_TRUE(winogradForm(early, {16, 0}).tile.isDirect());
    EXPECT_TRUE(winogradForm({1, 512, 512, 1, 1}, {16, kWinogradMaxError}).tile.isDirect());
}

TEST(Winograd, TransformsFiltersOfFewTilesInTheKernel)
{
    const auto form = [](const ConvolutionSize& size, int lanes) {
        return winogradForm(size, {lanes, kWinogradMaxError});
    };
    EXPECT_FALSE(form({1, 64, 64, 56, 56}, 16).isTransformedInKernel);
    EXPECT_FALSE(form({1, 128, 128, 28, 28}, 16).isTransformedInKernel);
    // 16 tiles: reading four times as much costs more than transforming again for each 8 of them.
    EXPECT_TRUE(form({1, 256, 256, 14, 14}, 16).isTransformedInKernel);
    EXPECT_EQ(form({1, 256, 256, 14, 14}, 16).tile, (WinogradTile{4, 4}));
    EXPECT_TRUE(form({1, 512, 512, 7, 7}, 16).isTransformedInKernel);
    EXPECT_EQ(form({1, 512, 512, 7, 7}, 16).tile, (WinogradTile{4, 4}));
    // No registers are left for it; filters that are read once cost more than they save then.
    EXPECT_FALSE(form({1, 512, 512, 7, 7}, 8).isTransformedInKernel);
    EXPECT_NE(form({1, 512, 512, 7, 7}, 8).tile, (WinogradTile{4, 4}));
}

TEST(Winograd, ReadsTransformedFiltersThatStayInTheCache)
{
    // As in networks for 32 x 32 images: 74 KB of filters, or four times as much.
    const ConvolutionSize size{1, 32, 32, 16, 16};
    EXPECT_TRUE(winogradForm(size, {16, kWinogradMaxError, false}).isTransformedInKernel);
    EXPECT_FALSE(winogradForm(size, {16, kWinogradMaxError, true}).isTransformedInKernel);
    EXPECT_EQ(winogradForm(size, {16, kWinogradMaxError, true}).tile, (WinogradTile{4, 4}));
}

} // namespace
} // namespace tenon::compiler
