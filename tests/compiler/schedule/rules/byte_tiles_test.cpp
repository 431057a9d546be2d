// SPDX-License-Identifier: Apache-2.0
// Convolutions and dense layers of bytes by tiles: of every shape the schedule computes what the
// operator means, and words are copied side by side for it.
#include "compiler/schedule/rules.h"
#include "compiler/schedule/rules/byte_tiles.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

/// By default vectors are so slow that tiles pay for every shape.
TargetFacts tileFacts(unsigned threads = 1, double byteMacs = 0.5)
{
    return {.vectorBytes = 64,
            .vectorRegisters = 32,
            .hasFma = true,
            .hasEmbeddedBroadcast = true,
            .threads = threads,
            .byteMacs = byteMacs,
            .byteTileMacs = 1024};
}

struct TiledConv
{
    int64_t inBlocks, outBlocks, weightBlock, height, width, kernel, stride;
    std::string dtype = "uint8";

    std::string text() const
    {
        using test::list;
        const int64_t padding = kernel / 2;
        return "%x: Tensor[(" + list({1, inBlocks, height, width, 16}) + "), " + dtype +
               "], %w: Tensor[(" +
               list({outBlocks * 16 / weightBlock, inBlocks, kernel, kernel, 4, weightBlock}) +
               "), int32], %b: Tensor[(" + list({1, outBlocks, 1, 1, 16}) +
               "), int32]\n%c = qnn.contrib_conv2d_NCHWc(%x, %w, out_layout=\"NCHW16c\", "
               "pad_value=3, padding=[" +
               list({padding, padding, padding, padding}) + "], strides=[" +
               list({stride, stride}) + "])\n%y = add(%c, %b)\n";
    }
};

/// Whether it is by tiles; checks that the values stay the same.
bool takesTiles(const std::string& text, const TargetFacts& facts)
{
    const auto function = test::fusedKernel(text);
    EXPECT_TRUE(function) << text << (function ? "" : function.error().text());
    if (!function) return false;
    const auto kernel = scheduleKernel(*function, facts);
    EXPECT_TRUE(kernel) << text << (kernel ? "" : kernel.error().text());
    if (!kernel) return false;
    EXPECT_EQ(kernel->refusal, "") << text;
    EXPECT_EQ(test::scheduleDifference(*function, kernel->function), "") << text;
    return std::any_of(kernel->trace.begin(), kernel->trace.end(), [](const TraceStep& step) {
        return step.primitive == "set_scope" && step.text().find("local") != std::string::npos;
    });
}

TEST(ByteTiles, MultiplyWindowsAndPoints)
{
    for (const TiledConv& c : {TiledConv{4, 4, 64, 7, 7, 1, 1}, TiledConv{4, 2, 16, 14, 14, 1, 1},
                               TiledConv{4, 3, 48, 9, 11, 3, 1}, TiledConv{1, 4, 32, 13, 13, 3, 1},
                               TiledConv{2, 1, 16, 16, 16, 3, 2}, TiledConv{4, 5, 16, 15, 16, 1, 2},
                               TiledConv{1, 1, 16, 5, 70, 5, 1}})
        for (const unsigned threads : {1u, 2u})
            EXPECT_TRUE(takesTiles(c.text(), tileFacts(threads))) << c.text();
}

TEST(ByteTiles, LeaveWhatVectorsDoAsFast)
{
    const TargetFacts facts = tileFacts(1, 128);
    EXPECT_TRUE(takesTiles(TiledConv{4, 8, 64, 14, 14, 3, 1}.text(), facts));
    EXPECT_FALSE(takesTiles(TiledConv{4, 1, 16, 14, 14, 3, 1}.text(), facts)); // few results
    EXPECT_FALSE(takesTiles(TiledConv{4, 4, 64, 7, 7, 1, 1}.text(), facts));   // one short kernel
    EXPECT_FALSE(takesTiles(TiledConv{4, 8, 64, 14, 14, 3, 1, "int8"}.text(), tileFacts()));
    TargetFacts vectors = tileFacts();
    vectors.byteTileMacs = 0;
    EXPECT_FALSE(takesTiles(TiledConv{4, 8, 64, 14, 14, 3, 1}.text(), vectors));
    EXPECT_TRUE(paysByTiles({128, 48, 192}, facts));
    EXPECT_FALSE(paysByTiles({8, 16, 16}, facts));
    EXPECT_FALSE(paysByTiles({784, 1, 225, 285}, facts)); // copies of 4 bytes each
}

TEST(ByteTiles, ReadLargeWeightsOnceForManyRows)
{
    TargetFacts facts = tileFacts();
    facts.l2Bytes = 8192;
    EXPECT_TRUE(takesTiles(TiledConv{4, 4, 64, 12, 12, 3, 1}.text(), facts));
    EXPECT_TRUE(takesTiles(TiledConv{4, 4, 64, 30, 30, 1, 1}.text(), facts));
}

std::string tiledDense(int64_t rows, int64_t words, int64_t columns)
{
    const auto number = [](int64_t n) { return std::to_string(n); };
    return "%x: Tensor[(" + number(rows) + ", " + number(4 * words) + "), uint8], %w: Tensor[(" +
           number(columns / 16) + ", " + number(words) + ", 16), int32], %b: Tensor[(" +
           number(columns) + ",), int32]\n%c = qnn.contrib_dense_pack(%x, %w)\n%y = add(%c, %b)\n";
}

TEST(ByteTiles, MultiplyRowsOfDenseLayers)
{
    for (const unsigned threads : {1u, 2u})
        for (const auto& [rows, words, columns] :
             {std::tuple{49, 16, 64}, {100, 24, 48}, {16, 20, 16}, {8, 32, 80}})
            EXPECT_TRUE(takesTiles(tiledDense(rows, words, columns), tileFacts(threads)));
    EXPECT_FALSE(takesTiles(tiledDense(1, 32, 64), tileFacts()));
}

TEST(ByteTiles, TakePositionsInEvenParts)
{
    EXPECT_EQ(rowsOfTiles(49), 49);
    EXPECT_EQ(rowsOfTiles(196), 28);
    EXPECT_EQ(rowsOfTiles(128), 32);
    EXPECT_EQ(rowsOfTiles(169), 29); // six runs, of which the last repeats five positions
}

} // namespace
} // namespace tenon::compiler
