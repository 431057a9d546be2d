// SPDX-License-Identifier: Apache-2.0
// How many steps of a sum one iteration takes where a lane of a register is an operand.
#include "compiler/ops/op.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr TargetFacts kWithLanes{
    .vectorBytes = 16, .vectorRegisters = 32, .hasFma = true, .hasLaneOperand = true};

/// Four steps of a block of channels are a short loop there: two blocks, or eight steps, are one.
TEST(LaneSteps, TakeEightStepsAtATimeWhereLanesAreOperands)
{
    struct
    {
        const char *model, *split;
    } const cases[] = {
        {"%x: Tensor[(1, 6, 5, 5, 4), float32], %w: Tensor[(2, 6, 1, 1, 4, 16), float32]\n"
         "%y = nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
         "kernel_layout=\"OIHW4i16o\", out_layout=\"NCHW4c\")\n",
         "split(\"ic_outer\", factors=[-1, 2])"},
        {"%x: Tensor[(64, 32), float32], %w: Tensor[(16, 32, 16), float32]\n"
         "%y = nn.contrib_dense_pack(%x, %w, weight_layout=\"NK16n\")\n",
         "split(\"k\", factors=[-1, 8])"},
    };
    for (const auto& [model, split] : cases) {
        const auto function = test::fusedKernel(model);
        ASSERT_TRUE(function) << function.error().text();
        for (const TargetFacts& facts : {kWithLanes, TargetFacts{}}) {
            const auto kernel = scheduleKernel(*function, facts);
            ASSERT_TRUE(kernel) << kernel.error().text();
            std::string text;
            for (const TraceStep& step : kernel->trace) text += step.text() + "\n";
            EXPECT_EQ(text.find(split) != std::string::npos, facts.hasLaneOperand) << text;
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function), "");
        }
    }
}

} // namespace
} // namespace tenon::compiler
