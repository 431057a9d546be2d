// SPDX-License-Identifier: Apache-2.0
// What LLVM is told for a target string, and what schedules learn from it.
#include "compiler/codegen/back_end.h"
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

std::optional<DataType> byteProducts(const std::string& target)
{
    const MachineSpec spec = specOf(target.c_str());
    return spec.backEnd->traits(spec).byteProducts;
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
    const auto valuesOf = [](const std::string& cpu) {
        return byteProducts("llvm -mtriple=x86_64-linux-gnu -mcpu=" + cpu);
    };
    for (const char* cpu : {"x86-64", "alderlake", "skylake-avx512", "cascadelake"})
        EXPECT_EQ(valuesOf(cpu), kUInt8) << cpu;
    // Their instruction for signs of bytes has no 512 bits.
    for (const char* cpu : {"nehalem", "haswell"}) EXPECT_EQ(valuesOf(cpu), kInt8) << cpu;
    // 512-bit vectors without instructions for their bytes, and 256-bit ones without integers.
    for (const char* cpu : {"knl", "sandybridge", "btver2"}) EXPECT_FALSE(valuesOf(cpu)) << cpu;
}

TEST(TargetMachine, productsOfBytesNeedVectorsOnAArch64)
{
    const auto valuesOf = [](const std::string& options) {
        return byteProducts("llvm -mtriple=aarch64-linux-gnu " + options);
    };
    for (const char* options : {"-mcpu=cortex-a72", "-mcpu=cortex-a76", "-mattr=+neon,+i8mm"})
        EXPECT_EQ(valuesOf(options), kInt8) << options;
    EXPECT_FALSE(valuesOf("-mattr=-neon"));
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

TEST(TargetMachine, armProcessorsBringTheirUnit)
{
    const auto sevenA = targetFacts(specOf("llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7"));
    EXPECT_EQ(sevenA->vectorBytes, 16);
    EXPECT_TRUE(sevenA->hasFma);
    EXPECT_FALSE(
        targetFacts(specOf("llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a9"))->hasFma);
    EXPECT_EQ(
        targetFacts(specOf("llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7 -mattr=-neon"))
            ->vectorBytes,
        4);
}

TEST(TargetMachine, riscvVectorsAreRegistersInPairs)
{
    const std::string riscv = "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c";
    EXPECT_EQ(targetFacts(specOf(riscv.c_str()))->vectorBytes, 4);
    EXPECT_EQ(targetFacts(specOf((riscv + ",+v").c_str()))->vectorBytes, 32);
    EXPECT_EQ(targetFacts(specOf((riscv + ",+v,+zvl256b").c_str()))->vectorBytes, 64);
    EXPECT_EQ(targetFacts(specOf((riscv + ",+v,+zvl512b").c_str()))->vectorBytes, 64);
}

TEST(TargetMachine, riscvHasDoubles)
{
    EXPECT_EQ(specOf("llvm -mtriple=riscv64-linux-gnu -mattr=+v").features, "+m,+a,+f,+d,+c,+v");
    EXPECT_EQ(specOf("llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u74").features, "");
    for (const char* options :
         {"riscv64-linux-gnu -mattr=-d", "riscv64-unknown-elf", "riscv32-unknown-elf -mattr=+m,+f",
          "riscv64-linux-gnu -mcpu=rocket-rv64"}) {
        const auto spec = machineSpec(*parseTarget("llvm -mtriple=" + std::string(options)));
        ASSERT_FALSE(spec) << options;
        EXPECT_EQ(spec.error().code, DiagnosticCode::UnsupportedTarget);
        EXPECT_NE(spec.error().message.find("doubles"), std::string::npos);
    }
}

TEST(TargetMachine, hexagonIsV66OrLater)
{
    EXPECT_EQ(specOf("hexagon").cpu, "hexagonv66");
    EXPECT_EQ(specOf("hexagon -mcpu=v68").cpu, "hexagonv68");
    EXPECT_EQ(specOf("llvm -mtriple=hexagon-unknown-linux-musl -mcpu=hexagonv67").cpu,
              "hexagonv67");
    const auto old = machineSpec(*parseTarget("hexagon -mcpu=v65"));
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().code, DiagnosticCode::UnsupportedTarget);
    EXPECT_NE(old.error().message.find("v66 and later"), std::string::npos) << old.error().text();
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
