// SPDX-License-Identifier: Apache-2.0
// Which products are worth halving where tiles are chosen by instructions, not by products.
#include "compiler/passes/layout/strassen_choice.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// A core that begins one product and two instructions in a cycle.
LayoutMachine machineOf(bool hasLaneOperand)
{
    LayoutMachine machine{.lanes = 4, .facts = {.vectorRegisters = 32, .hasFma = true}};
    machine.facts.hasLaneOperand = hasLaneOperand;
    machine.facts.floatMacs = 4;
    return machine;
}

double timeOfImage(int64_t pixels, int64_t channels, bool hasLaneOperand)
{
    const ConvolutionSize size{.batch = 1,
                               .inChannels = channels,
                               .outChannels = channels,
                               .rows = pixels,
                               .columns = 1,
                               .kernel = {1, 1}};
    return timeOfHalves(size, machineOf(hasLaneOperand));
}

/// Cycles in which a product and a load begin are no two cycles of products.
TEST(StrassenChoice, CountsProductsBesideSumsInTheSameCycles)
{
    constexpr double kWorthHalving = 0.97;
    EXPECT_LT(timeOfImage(200, 256, true), kWorthHalving);
    EXPECT_NEAR(timeOfImage(200, 256, true), timeOfImage(200, 256, false), 0.03);
    EXPECT_GT(timeOfImage(200, 64, true), kWorthHalving);
}

TEST(StrassenChoice, LeavesHalvesThatFillNoTile)
{
    EXPECT_EQ(timeOfImage(8, 1024, true), 1);
    EXPECT_EQ(timeOfImage(200, 36, true), 1) << "blocks of four reach across the middle";
}

} // namespace
} // namespace tenon::compiler
