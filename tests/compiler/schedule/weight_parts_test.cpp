// SPDX-License-Identifier: Apache-2.0
// When convolutions and products of matrices read their weights by parts, and that these compute
// the same.
#include "compiler/schedule/rules.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// 128 to 32 channels, whose tile of two vectors has weights of 8 KiB, of which a cache of 4 holds
/// some beside the data.
core::Result<tir::PrimFunc> manyChannels(int rows)
{
    return test::fusedKernel("%x: Tensor[(1, 16, " + std::to_string(rows) +
                             ", 8, 8), float32], %w: Tensor[(2, 16, 1, 1, 8, 16), float32]\n"
                             "%y = nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW8c\", "
                             "kernel_layout=\"OIHW8i16o\", out_layout=\"NCHW8c\")\n"
                             "%z = nn.relu(%y)\n");
}

/// `depth` to `blocks` x `block` columns: of 512 to 4 x 8, a tile of two vectors has weights of 32
/// KiB.
core::Result<tir::PrimFunc> deepProduct(int rows, int depth, int blocks = 4, int block = 8)
{
    const std::string m = std::to_string(rows), k = std::to_string(depth);
    const std::string b = std::to_string(block), n = std::to_string(blocks * block);
    return test::fusedKernel("%x: Tensor[(" + m + ", " + k + "), float32], %w: Tensor[(" +
                             std::to_string(blocks) + ", " + k + ", " + b +
                             "), float32], %b: Tensor[(" + n +
                             "), float32]\n"
                             "%y = nn.contrib_dense_pack(%x, %w, weight_layout=\"NK" +
                             b +
                             "n\")\n"
                             "%s = add(%y, %b)\n"
                             "%z = nn.relu(%s)\n");
}

TargetFacts smallTiles(int64_t l2Bytes, int threads)
{
    TargetFacts facts{.vectorBytes = 32, .vectorRegisters = 16, .hasFma = true, .l1Bytes = 4096};
    facts.floatMacs = 16;
    facts.loads = 2;
    facts.threads = threads;
    facts.l2Bytes = l2Bytes;
    return facts;
}

/// 32 registers of 16 lanes.
TargetFacts largeTiles(int64_t l2Bytes, int threads)
{
    TargetFacts facts = smallTiles(l2Bytes, threads);
    facts.vectorBytes = 64;
    facts.vectorRegisters = 32;
    facts.floatMacs = 32;
    return facts;
}

void expectParts(const core::Result<tir::PrimFunc>& whole, const std::string& rule,
                 const TargetFacts& facts, bool areThere)
{
    const int threads = facts.threads;
    ASSERT_TRUE(whole) << whole.error().text();
    const auto kernel = scheduleKernel(*whole, facts);
    ASSERT_TRUE(kernel) << kernel.error().text();
    EXPECT_EQ(kernel->rule, rule);
    EXPECT_EQ(kernel->refusal, "");
    std::string text;
    for (const TraceStep& step : kernel->trace) text += step.text() + "\n";
    EXPECT_EQ(text.find("rfactor") != std::string::npos, areThere) << threads << " threads\n"
                                                                   << text;
    EXPECT_EQ(test::scheduleDifference(*whole, kernel->function), "") << threads << " threads";
}

TEST(WeightParts, StayInTheFirstCacheWhileManyTilesReadThem)
{
    for (const int threads : {1, 2}) {
        expectParts(manyChannels(8), "conv2d_nchwc", smallTiles(512 * 1024, threads), true);
        // Too few tiles to make up for the wait for each part.
        expectParts(manyChannels(2), "conv2d_nchwc", smallTiles(512 * 1024, threads), false);
    }
}

TEST(WeightParts, OfDeepProductsPassOverStripsOfRows)
{
    constexpr int64_t kCache = 64 * 1024;
    for (const int threads : {1, 2}) {
        expectParts(deepProduct(16, 512), "matmul", smallTiles(kCache, threads), false);
        for (const int rows : {49, 97}) // one strip, and two whose tiles overlap
            expectParts(deepProduct(rows, 512), "matmul", smallTiles(kCache, threads), true);
        // A prime has no parts that are worth it.
        expectParts(deepProduct(49, 509), "matmul", smallTiles(kCache, threads), false);
    }
}

TEST(WeightParts, OfLargeTilesLeaveRoomForTheNextOnes)
{
    constexpr int64_t kCache = 384 * 1024;
    // Rows that tiles divide, and such whose last tile overlaps.
    expectParts(deepProduct(84, 512, 2, 32), "matmul", largeTiles(kCache, 1), true);
    expectParts(deepProduct(81, 512, 2, 32), "matmul", largeTiles(kCache, 2), true);
    // Two strips of 56 would compute 15 rows twice.
    expectParts(deepProduct(97, 512, 2, 32), "matmul", largeTiles(kCache, 1), false);
    // The cache holds all there is.
    expectParts(deepProduct(29, 512, 2, 32), "matmul", largeTiles(kCache, 1), false);
}

} // namespace
} // namespace tenon::compiler
