// SPDX-License-Identifier: Apache-2.0
// What LLVM is told for a target string, and what schedules learn from it.
#include "compiler/codegen/llvm/target_machine.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

MachineSpec specOf(const char* text)
{
    const auto target = parseTarget(text);
    CHECK(target) << target.error().text();
    const auto machine = machineSpec(*target);
    CHECK(machine) << machine.error().text();
    return *machine;
}

TEST(TargetMachine, vectorWidthFollowsTheCpu)
{
    EXPECT_EQ(
        targetFacts(specOf("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"))->vectorBytes,
        64);
    EXPECT_EQ(targetFacts(specOf("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"))->vectorBytes, 32);
    EXPECT_EQ(targetFacts(specOf("llvm -mtriple=x86_64-linux-gnu"))->vectorBytes, 16);
    EXPECT_EQ(
        targetFacts(specOf("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"))->vectorRegisters,
        32);
    EXPECT_EQ(
        targetFacts(specOf("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"))->vectorRegisters,
        32);
    EXPECT_FALSE(targetFacts(specOf("llvm -mtriple=x86_64-linux-gnu"))->hasFma);
}

TEST(TargetMachine, productsOfBytesFollowTheCpu)
{
    const auto hasDot = [](const std::string& cpu) {
        return hasDotU8I8(*parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=" + cpu));
    };
    for (const char* cpu : {"x86-64", "haswell", "alderlake", "skylake-avx512", "cascadelake"})
        EXPECT_TRUE(hasDot(cpu)) << cpu;
    // 512-bit vectors without instructions for their bytes.
    EXPECT_FALSE(hasDot("knl"));
}

TEST(TargetMachine, unknownCpuAndFeatureAreNamed)
{
    const auto cpu =
        machineSpec(*parseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a7200"));
    ASSERT_FALSE(cpu);
    EXPECT_NE(cpu.error().message.find("cortex-a72"), std::string::npos) << cpu.error().text();
    const auto feature =
        machineSpec(*parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=+avx9000"));
    ASSERT_FALSE(feature);
    EXPECT_NE(feature.error().message.find("avx9000"), std::string::npos);
}

TEST(TargetMachine, nativeMeansThisComputerOnly)
{
    const auto other =
        machineSpec(*parseTarget("llvm -mtriple=riscv64-unknown-linux-gnu -mcpu=native"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, DiagnosticCode::BadTarget);
}

} // namespace
} // namespace tenon::compiler
