// SPDX-License-Identifier: Apache-2.0
// What nodes compute, and what of it no kernel can leave out.
#include "compiler/ops/node_work.h"
#include "tests/compiler/ops/op_case.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct Work
{
    int64_t macs = 0;
    double leastFlops = 0;
    double readShare = 0;
};

Work workOf(const std::string& example)
{
    const auto module = test::exampleModule(example);
    EXPECT_TRUE(module) << module.error().text();
    if (!module) return {};
    const core::NodeRecord& node = module->node(module->main().order[0]);
    return {macsOf(*module, node), leastFlops(*module, node), readShare(*module, node, 0)};
}

TEST(NodeWork, CountsProductsWithPaddingOnlyAsTheShapesSay)
{
    const Work work = workOf("%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(3, 2, 3, 3), float32] "
                             "=> nn.conv2d(%x, %w, padding=[1, 1, 1, 1])");
    EXPECT_EQ(work.macs, 3 * 4 * 4 * 2 * 9);
    // Along each axis of four, ten of twelve taps meet the image.
    EXPECT_DOUBLE_EQ(work.leastFlops, 2 * 3 * 2 * 10 * 10);
    EXPECT_DOUBLE_EQ(work.readShare, 1);
}

TEST(NodeWork, ReadsNothingOfWhatAWindowStepsOver)
{
    const Work work = workOf("%x: Tensor[(1, 2, 5, 4), float32], %w: Tensor[(3, 2, 1, 1), float32] "
                             "=> nn.conv2d(%x, %w, strides=[2, 2])");
    EXPECT_DOUBLE_EQ(work.readShare, 3.0 / 5 * 2 / 4);
    EXPECT_DOUBLE_EQ(work.leastFlops, 2.0 * static_cast<double>(work.macs));
}

TEST(NodeWork, CountsWinogradsOwnProducts)
{
    const Work work =
        workOf("%x: Tensor[(1, 1, 8, 8, 4), float32], %w: Tensor[(1, 6, 6, 1, 4, 16), float32] "
               "=> nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
               "kernel_layout=\"OHWI4i16o\", out_layout=\"NCHW16c\", padding=[1, 1, 1, 1], "
               "tile_size=[4, 4])");
    EXPECT_EQ(work.macs, 16 * 8 * 8 * 4 * 9);
    EXPECT_DOUBLE_EQ(work.leastFlops, 2 * 16 * 4 * 4 * 36); // four tiles of 6 x 6 points
}

TEST(NodeWork, CountsSevenOfEightProductsOfHalves)
{
    const Work work =
        workOf("%x: Tensor[(1, 2, 3, 5, 8), float32], %w: Tensor[(2, 7, 1, 1, 8, 8), float32] "
               "=> nn.contrib_conv2d_strassen_NCHWc(%x, %w, data_layout=\"NCHW8c\", "
               "kernel_layout=\"OHWI8i8o\", out_layout=\"NCHW8c\", products=7)");
    EXPECT_EQ(work.macs, 32 * 3 * 5 * 16);
    EXPECT_DOUBLE_EQ(work.leastFlops, 2.0 * 32 * 3 * 5 * 16 * 7 / 8);
}

/// Of the four phases, three have a filter without a last row, column or both.
TEST(NodeWork, LeavesOutProductsWithZerosOfWinogradsFilters)
{
    const Work work =
        workOf("%x: Tensor[(1, 1, 8, 8, 4), float32], %w: Tensor[(1, 3, 3, 4, 4, 16), float32] "
               "=> nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
               "kernel_layout=\"OHWI4i16o\", out_layout=\"NCHW16c\", padding=[1, 1, 1, 1], "
               "strides=[2, 2], tile_size=[2, 2])");
    EXPECT_EQ(work.macs, 16 * 4 * 4 * 4 * 9);
    EXPECT_DOUBLE_EQ(work.leastFlops, 2 * 16 * 4 * 4 * (9 + 6 + 6 + 4));
}

TEST(NodeWork, IsNothingForOperatorsThatMultiplyNoMatrices)
{
    const Work work = workOf("%x: Tensor[(1, 4), float32] => nn.relu(%x)");
    EXPECT_EQ(work.macs, 0);
    EXPECT_EQ(work.leastFlops, 0);
}

} // namespace
} // namespace tenon::compiler
