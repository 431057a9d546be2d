// SPDX-License-Identifier: Apache-2.0
// Methods of calls go to words and back.
#include "core/artifact/call_method.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(CallMethod, WritesWordsThatItReadsAgain)
{
    for (const char* words : {"",
                              "GEMM",
                              "GEMM int8",
                              "Winograd F(4x4,3x3)",
                              "Winograd F(1x2,1x7)",
                              "depthwise int8",
                              "direct",
                              "direct on rows",
                              "direct on rows int8",
                              "direct 1x1",
                              "direct 1x1 int8",
                              "fused attention",
                              "linear attention",
                              "moves data",
                              "packed GEMM int8",
                              "plain loops",
                              "plain loops int8",
                              "Strassen 1x1",
                              "plain loops because of matmul: no loop",
                              "plain loops, plain loops because of conv2d: no block"}) {
        std::string refusal;
        const CallMethod method = parseMethod(words, refusal);
        EXPECT_EQ(methodText(method, refusal), words);
    }
}

TEST(CallMethod, TellsWhatTheWordsSay)
{
    std::string refusal;
    const CallMethod winograd = parseMethod("Winograd F(4x4,3x3)", refusal);
    EXPECT_EQ(winograd.kind, Method::Winograd);
    EXPECT_EQ(winograd.tile, (std::array<int, 2>{4, 4}));
    EXPECT_EQ(winograd.window, (std::array<int, 2>{3, 3}));
    EXPECT_EQ(parseMethod("Winograd F(1x4,1x5)", refusal).window, (std::array<int, 2>{1, 5}));
    EXPECT_FALSE(winograd.isInt8);
    EXPECT_EQ(parseMethod("direct 1x1 int8", refusal), (CallMethod{Method::Direct1x1, true}));
    EXPECT_EQ(parseMethod("direct, plain loops because of x: y", refusal).kind, Method::Direct);
    EXPECT_EQ(refusal, "x: y");
    EXPECT_EQ(methodRun({}, refusal).kind, Method::PlainLoops);
}

TEST(CallMethod, DoesNotGuessAtOtherWords)
{
    std::string refusal;
    EXPECT_EQ(parseMethod("directly by hand", refusal), CallMethod{});
    EXPECT_EQ(parseMethod("FFT", refusal), CallMethod{});
    EXPECT_EQ(refusal, "");
}

} // namespace
} // namespace tenon::core
