// SPDX-License-Identifier: Apache-2.0
// How many vectors of filters a step of a Winograd convolution takes.
#include "compiler/passes/layout/winograd_choice.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr int64_t kL1Bytes = 48 << 10;

TEST(WinogradChoice, KeepsAPointOfTheFiltersInTheFirstLevelCache)
{
    const WinogradForm form{.tile = {4, 4}};
    const ChannelBlocks four{.in = 16, .out = 16, .most = 64};
    EXPECT_EQ(winogradKernelLayout(form, 64, four, kL1Bytes), "OHWI16i64o");
    EXPECT_EQ(winogradKernelLayout(form, 128, four, kL1Bytes), "OHWI16i32o");
    EXPECT_EQ(winogradKernelLayout(form, 256, four, kL1Bytes), "OHWI16i16o");
    EXPECT_EQ(winogradKernelLayout(form, 4096, four, kL1Bytes), "OHWI16i16o");
    const ChannelBlocks three{.in = 8, .out = 16, .most = 48};
    EXPECT_EQ(winogradKernelLayout(form, 80, three, kL1Bytes), "OHWI8i48o");
    EXPECT_EQ(winogradKernelLayout(form, 128, three, kL1Bytes), "OHWI8i16o");
}

TEST(WinogradChoice, LeavesShortVectorsInFours)
{
    const WinogradForm form{.tile = {4, 4}};
    EXPECT_EQ(winogradKernelLayout(form, 4096, {.in = 4, .out = 4, .most = 16}, kL1Bytes),
              "OHWI4i16o");
}

TEST(WinogradChoice, WalksFiltersChannelByChannelWhereTheKernelTransformsThem)
{
    const WinogradForm form{.tile = {4, 4}, .isTransformedInKernel = true};
    EXPECT_EQ(winogradKernelLayout(form, 512, {.in = 16, .out = 16, .most = 64}, kL1Bytes),
              "OIHW1i16o");
}

} // namespace
} // namespace tenon::compiler
