// SPDX-License-Identifier: Apache-2.0
// Compiled products of halves against plain products in binary64: the error stays within what the
// choice between them expects.
#include "compiler/passes/layout/strassen_choice.h"
#include "tests/compiler/ops/compiled_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

using core::Tensor;

struct Case
{
    int64_t in, out, height, width, images = 1, inBlock = 8, outBlock = 8;
};

/// Blocks of weights are chosen for it; any are right.
constexpr LayoutMachine kMachine{.lanes = 8, .maxError = 1};

Tensor halved(const Case& c, const Tensor& data, const Tensor& weight)
{
    const std::string in = "NCHW" + std::to_string(c.inBlock) + "c";
    const std::string out = "NCHW" + std::to_string(c.outBlock) + "c";
    const std::string kernel = halvedKernelLayout({c.images, c.in, c.out, c.height, c.width},
                                                  {c.inBlock, c.outBlock, c.outBlock}, kMachine);
    const Tensor blocked = test::evaluated(test::layoutMove(data, "NCHW", in), {data});
    const Tensor packed = test::evaluated(
        test::typeText("%w", weight.shape()) +
            " => nn.contrib_strassen_weight_transform(%w, kernel_layout=\"" + kernel + "\")",
        {weight});
    const Tensor result =
        test::compiled(test::typeText("%x", blocked.shape()) + ", " +
                           test::typeText("%w", packed.shape()) +
                           " => nn.contrib_conv2d_strassen_NCHWc(%x, %w, data_layout=\"" + in +
                           "\", kernel_layout=\"" + kernel + "\", out_layout=\"" + out + "\")",
                       {blocked, packed}, "conv2d_strassen")
            .reshaped({c.images, c.out / c.outBlock, c.height, c.width, c.outBlock});
    return test::evaluated(test::layoutMove(result, out, "NCHW"), {result});
}

/// Root mean square error, relative to that of the results.
double errorOf(const Case& c)
{
    const Tensor data = test::normal({c.images, c.in, c.height, c.width}, 7);
    const Tensor weight = test::normal({c.out, c.in, 1, 1}, 8);
    const Tensor got = halved(c, data, weight);
    const int64_t pixels = c.height * c.width;
    EXPECT_EQ(got.shape(), (std::vector<int64_t>{c.images, c.out, c.height, c.width}));
    double error = 0, size = 0;
    for (int64_t i = 0; i < got.size(); ++i) {
        const int64_t image = i / (c.out * pixels), filter = i / pixels % c.out;
        double wanted = 0;
        for (int64_t k = 0; k < c.in; ++k)
            wanted += data.number((image * c.in + k) * pixels + i % pixels) *
                      weight.number(filter * c.in + k);
        error += (got.number(i) - wanted) * (got.number(i) - wanted);
        size += wanted * wanted;
    }
    return std::sqrt(error / size);
}

TEST(Strassen, StaysWithinTheExpectedError)
{
    // Odd numbers of positions, one row, one column, blocks of other sizes, more than one image,
    // halves that are rounded up to what steps divide, a step that is a part of a half, and one
    // product after the other where the data of all leave the second-level cache.
    const Case cases[] = {{64, 32, 7, 7},          {16, 16, 1, 2},    {256, 64, 5, 3},
                          {32, 48, 1, 97},         {32, 48, 97, 1},   {64, 32, 14, 14},
                          {24, 40, 9, 5, 3, 4, 4}, {32, 16, 21, 19},  {16, 32, 64, 63},
                          {512, 32, 8, 8, 2},      {1536, 16, 16, 16}};
    for (const Case& c : cases) {
        const double error = errorOf(c);
        const double wanted = strassenError({c.images, c.in, c.out, c.height, c.width});
        EXPECT_LT(error, 2 * wanted) << c.in << " at " << c.height << " x " << c.width;
        EXPECT_GT(error, wanted / 8) << "no rounding: " << c.in;
    }
}

} // namespace
} // namespace tenon::compiler
