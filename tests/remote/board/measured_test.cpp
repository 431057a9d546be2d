// SPDX-License-Identifier: Apache-2.0
// What a board's server measured: read, kept in the board's target, or refused.
#include "core/base/option_code.h"
#include "core/target/machine_option.h"
#include "remote/board/measured.h"
#include "remote/deploy/deployer.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

const std::string kPi = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4";

TEST(Measured, readsFiguresWithoutTheirNoise)
{
    const auto measured = parseMeasured("clock_ghz 1.4999\nl2_bytes 1048576\nfuture_thing 3\n"
                                        "memory_bytes_per_cycle 2.34567\n");
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->clockGhz, 1.4999);
    EXPECT_EQ(core::machineText(measured->figures), "l2_bytes=1048576,memory_bytes_per_cycle=2.35");
    EXPECT_FALSE(parseMeasured("no such function"));
    EXPECT_FALSE(parseMeasured(""));
}

TEST(Measured, takesThePlaceOfWhatWasMeasuredBefore)
{
    Measured measured{.clockGhz = 1.5, .figures = {{"memory_bytes_per_cycle", 2.5}}};
    const auto first = measuredTarget(kPi, measured);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(*first, kPi + " -machine=memory_bytes_per_cycle=2.5");
    EXPECT_EQ(figuresOf(*first), "memory_bytes_per_cycle=2.5");
    measured.figures[0].second = 3;
    EXPECT_EQ(*measuredTarget(*first, measured), kPi + " -machine=memory_bytes_per_cycle=3");
    EXPECT_EQ(*withFigures(*first, ""), kPi);
    EXPECT_EQ(*withFigures(kPi + " -machine=cortex-a76", "float_macs=8"),
              kPi + " -machine=cortex-a76,float_macs=8");
    const auto ofTag = withFigures("raspberry-pi/4b-aarch64", "float_macs=4");
    ASSERT_TRUE(ofTag);
    EXPECT_TRUE(core::parseTarget(*ofTag)) << *ofTag;
}

TEST(Measured, isRefusedWhereItContradictsItself)
{
    for (const char* text :
         {"l1_bytes 2097152\nl2_bytes 1048576\n", "memory_bytes_per_cycle 0\n",
          "l2_bytes_per_cycle nan\n", "float_macs inf\n", "memory_bytes_per_cycle 900\n"}) {
        const auto measured = parseMeasured(text);
        ASSERT_TRUE(measured) << text;
        const auto refused = measuredTarget(kPi, *measured);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, core::OptionCode::ContradictoryFacts) << text;
    }
}

TEST(Measured, comesFromTheServerOfThisComputer)
{
    core::JobContext job;
    Deployer deployer(Board{.name = "local", .target = "llvm -mcpu=native"}, {});
    const auto text = deployer.measure({}, job);
    ASSERT_TRUE(text) << text.error().text();
    const auto measured = parseMeasured(*text);
    ASSERT_TRUE(measured);
    EXPECT_GT(measured->clockGhz, 0.01);
    bool hasMemory = false, hasMacs = false, hasByteMacs = false;
    for (const auto& [name, value] : measured->figures) {
        EXPECT_GT(value, 0) << name;
        hasMemory = hasMemory || name == "memory_bytes_per_cycle";
        hasMacs = hasMacs || name == "float_macs";
        hasByteMacs = hasByteMacs || name == "byte_macs";
    }
    EXPECT_TRUE(hasMemory);
    EXPECT_TRUE(hasMacs);
    EXPECT_TRUE(hasByteMacs);
}

} // namespace
} // namespace tenon::remote
