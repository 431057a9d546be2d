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

/// `depth` to 32 columns: of 512, a tile of two vectors has weights of 32 KiB.
core::Result<tir::PrimFunc> deepProduct(int rows, int depth)
{
    const std::string m = std::to_string(rows), k = std::to_string(depth);
    return test::fusedKernel("%x: Tensor[(" + m + ", " + k + "), float32], %w: Tensor[(4, " + k +
                             ", 8), float32], %b: Tensor[(32), float32]\n"
                             "%y = nn.contrib_dense_pack(%x, %w, weight_layout=\"NK8n\")\n"
                             "%s = add(%y, %b)\n"
                             "%z = nn.relu(%s)\n");
}

void expectParts(const core::Result<tir::PrimFunc>& whole, const std::string& rule, int64_t l2Bytes,
                 int threads, bool areThere)
{
    TargetFacts facts{.vectorBytes = 32, .vectorRegisters = 16, .hasFma = true, .l1Bytes = 4096};
    facts.floatMacs = 16;
    facts.loads = 2;
    facts.threads = threads;
    facts.l2Bytes = l2Bytes;
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
        expectParts(manyChannels(8), "conv2d_nchwc", 512 * 1024, threads, true);
        // Too few tiles to make up for the wait for each part.
        expectParts(manyChannels(2), "conv2d_nchwc", 512 * 1024, threads, false);
    }
}

TEST(WeightParts, OfDeepProductsPassOverStripsOfRows)
{
    constexpr int64_t kCache = 64 * 1024;
    for (const int threads : {1, 2}) {
        expectParts(deepProduct(16, 512), "matmul", kCache, threads, false);
        for (const int rows : {49, 97}) // one strip, and two whose tiles overlap
            expectParts(deepProduct(rows, 512), "matmul", kCache, threads, true);
        // A prime has no parts that are worth it.
        expectParts(deepProduct(49, 509), "matmul", kCache, threads, false);
    }
}

} // namespace
} // namespace tenon::compiler
