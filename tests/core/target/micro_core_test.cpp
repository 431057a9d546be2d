// SPDX-License-Identifier: Apache-2.0
// Cores of microcontrollers by target and by emulated board, and GCC's options for them.
#include "core/target/micro_core.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const MicroCore* coreFor(const char* target) { return microCoreOf(*parseTarget(target)); }

TEST(MicroCore, IsFoundByProcessorAndByBoard)
{
    ASSERT_NE(coreFor("c -mcpu=cortex-m4"), nullptr);
    EXPECT_EQ(coreFor("c -mcpu=cortex-m4")->board, "mps2-an386");
    EXPECT_EQ(coreFor("c -mcpu=cortex-m4+nodsp")->board, "mps2-an386");
    EXPECT_EQ(coreFor("c -mcpu=cortex-m0plus")->board, ""); // no emulated board has it
    EXPECT_EQ(coreFor("c"), nullptr);
    EXPECT_EQ(coreFor("llvm -mtriple=arm-linux-gnueabihf -mcpu=cortex-a7"), nullptr);
    ASSERT_NE(microCoreOnBoard("mps3-an547"), nullptr);
    EXPECT_EQ(microCoreOnBoard("mps3-an547")->cpu, "cortex-m55");
    EXPECT_EQ(microCoreOnBoard("mps3-an547")->flashBytes, 0x80000);
    EXPECT_EQ(microCoreOnBoard(""), nullptr);
}

TEST(MicroCore, TellsGccWhatTheTargetLeavesOpen)
{
    const auto options = [](const char* text) {
        const auto target = *parseTarget(text);
        return microCompilerOptions(*microCoreOf(target), target);
    };
    EXPECT_EQ(*options("c -mcpu=cortex-m4"),
              (std::vector<std::string>{"-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
                                        "-mfpu=fpv4-sp-d16"}));
    EXPECT_EQ(*options("c -mcpu=cortex-m4 -mfloat-abi=soft"),
              (std::vector<std::string>{"-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16",
                                        "-mfloat-abi=soft"}));
    EXPECT_EQ(*options("c -mcpu=cortex-m3"),
              (std::vector<std::string>{"-mcpu=cortex-m3", "-mthumb"}));
    const auto refused = options("c -mcpu=cortex-m3 -mfloat-abi=hard");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, DiagnosticCode::BadTarget);
}

} // namespace
} // namespace tenon::core
