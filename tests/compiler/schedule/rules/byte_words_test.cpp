// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes by words: of every shape the schedule computes what the operator means, and
// widens words beforehand where that takes fewer instructions.
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::compiler {
namespace {

constexpr TargetFacts kDsp{.vectorBytes = 4, .byteMacs = 1};
constexpr TargetFacts kPlain{.vectorBytes = 4, .byteMacs = 0.3};

struct ConvCase
{
    int64_t blocks, block, filters, height, width, kernel, stride, padding;
    std::string dtype = "int8";
    bool isJoined = false; ///< rows of the window are runs of bytes

    std::string text() const
    {
        using test::list;
        return "%x: Tensor[(" + list({1, blocks, height, width, block}) + "), " + dtype +
               "], %w: Tensor[(" +
               (isJoined ? list({1, blocks, kernel, 1, (kernel * block + 3) / 4, filters})
                         : list({1, blocks, kernel, kernel, block / 4, filters})) +
               "), int32], %b: Tensor[(" + list({1, 1, 1, 1, filters}) +
               "), int32]\n%c = qnn.contrib_conv2d_NCHWc(%x, %w, out_layout=\"NCHW" +
               std::to_string(filters) + "c\", pad_value=-3, padding=[" +
               list({padding, padding, padding, padding}) + "], strides=[" +
               list({stride, stride}) + "]" +
               (isJoined ? ", joined_columns=" + std::to_string(kernel) : "") +
               ")\n%y = add(%c, %b)\n";
    }
};

/// Whether words are widened; checks that the values stay the same.
bool isWidened(const ConvCase& c, const TargetFacts& facts)
{
    const auto function = test::fusedKernel(c.text());
    EXPECT_TRUE(function) << c.text() << (function ? "" : function.error().text());
    if (!function) return false;
    const auto kernel = scheduleKernel(*function, facts);
    EXPECT_TRUE(kernel) << c.text() << (kernel ? "" : kernel.error().text());
    if (!kernel) return false;
    EXPECT_EQ(kernel->refusal, "") << c.text();
    EXPECT_EQ(test::scheduleDifference(*function, kernel->function), "") << c.text();
    return std::any_of(kernel->trace.begin(), kernel->trace.end(),
                       [](const TraceStep& step) { return step.primitive == "cache_words"; });
}

constexpr int64_t kNoPad = 0;

TEST(ByteWords, AreWidenedWhereManyFiltersReadThem)
{
    EXPECT_TRUE(isWidened({2, 16, 16, 5, 5, 1, 1, kNoPad}, kDsp));
    EXPECT_TRUE(isWidened({1, 8, 16, 6, 7, 3, 1, 1}, kDsp));
}

TEST(ByteWords, AreNotWidenedForFewFiltersOrOneColumn)
{
    EXPECT_FALSE(isWidened({1, 16, 2, 5, 5, 1, 1, kNoPad}, kDsp));
    EXPECT_FALSE(isWidened({1, 16, 16, 3, 1, 3, 1, 1}, kDsp));
}

TEST(ByteWords, AreNotWidenedWithoutInstructionsForIt)
{
    EXPECT_FALSE(isWidened({2, 16, 16, 5, 5, 1, 1, kNoPad}, kPlain));
    EXPECT_FALSE(isWidened({2, 16, 16, 5, 5, 1, 1, kNoPad, "uint8"}, kDsp));
}

TEST(ByteWords, ComputeTheSameForRandomShapes)
{
    std::mt19937 random(17);
    const auto from = [&](std::initializer_list<int64_t> choices) {
        return choices.begin()[random() % choices.size()];
    };
    int widened = 0;
    for (int i = 0; i < 40; ++i) {
        const int64_t kernel = from({1, 3});
        ConvCase c{.blocks = from({1, 2, 3}),
                   .block = from({4, 8, 16}),
                   .filters = from({2, 5, 6, 8, 16}),
                   .height = from({1, 3, 4}),
                   .width = from({1, 2, 3, 4, 5, 6, 7, 9}),
                   .kernel = kernel,
                   .stride = from({1, 2}),
                   .padding = kernel / 2};
        widened += isWidened(c, kDsp);
    }
    EXPECT_GT(widened, 5);
}

TEST(ByteWords, OfRowsOfAnyChannelsComputeTheSame)
{
    std::mt19937 random(5);
    const auto from = [&](std::initializer_list<int64_t> choices) {
        return choices.begin()[random() % choices.size()];
    };
    int widened = 0;
    for (int i = 0; i < 40; ++i) {
        const int64_t kernel = from({2, 3, 5});
        ConvCase c{.blocks = from({1, 1, 2}),
                   .block = from({2, 3, 5, 6, 7, 10, 13}),
                   .filters = from({1, 2, 3, 5, 6, 7, 16}),
                   .height = from({1, 3, 4}),
                   .width = from({1, 2, 3, 4, 5, 6, 7, 9}),
                   .kernel = kernel,
                   .stride = from({1, 2}),
                   .padding = kernel / 2,
                   .isJoined = true};
        widened += isWidened(c, kDsp);
    }
    EXPECT_GT(widened, 5);
}

} // namespace
} // namespace tenon::compiler
