// SPDX-License-Identifier: Apache-2.0
// Cores of microcontrollers by target and by emulated board, and GCC's options for them.
#include "core/base/text.h"
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
    ASSERT_NE(microCoreOnBoard("virt"), nullptr);
    EXPECT_EQ(microCoreOnBoard("virt")->cpu, "rv32imc");
}

TEST(MicroCore, SaysWhatCompilesForItAndWhatEmulatesIt)
{
    EXPECT_EQ(microTool(*coreFor("c -mcpu=cortex-m7"), "gcc"), "arm-none-eabi-gcc");
    EXPECT_EQ(microTool(*coreFor("c -mcpu=rv32imc"), "nm"), "riscv64-unknown-elf-nm");
    const auto words = microEmulator(*coreFor("c -mcpu=cortex-m4"), 6);
    EXPECT_EQ(join(words, " "), "qemu-system-arm -M mps2-an386 -display none -monitor none -icount "
                                "shift=6,sleep=off -semihosting-config enable=on,target=native");
    EXPECT_EQ(join(microEmulator(*coreFor("c -mcpu=rv32imc"), 6), " ").substr(0, 38),
              "qemu-system-riscv32 -M virt -bios none");
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
    EXPECT_EQ(
        *options("c -mcpu=rv32imc"),
        (std::vector<std::string>{"-march=rv32imc", "--specs=picolibc.specs", "-mabi=ilp32"}));
    const auto refused = options("c -mcpu=cortex-m3 -mfloat-abi=hard");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, DiagnosticCode::BadTarget);
}

} // namespace
} // namespace tenon::core
