// SPDX-License-Identifier: Apache-2.0
// Where the figures of a target come from: its row, the nearest one, or its own -machine.
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/machine_facts.h"
#include "core/base/option_code.h"
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tenon::compiler {
namespace {

MachineFacts factsOf(const std::string& text)
{
    const auto target = parseTarget(text);
    CHECK(target) << target.error().text();
    const auto machine = machineSpec(*target);
    CHECK(machine) << machine.error().text();
    const auto known = machineFacts(*target, *machine);
    CHECK(known) << known.error().text();
    return *known;
}

const std::string kArm = "llvm -mtriple=aarch64-linux-gnu -mcpu=";

TEST(MachineFigures, haveRowsOfProcessorsThatLlvmKnows)
{
    const std::map<MachineFamily, const char*> triples = {
        {MachineFamily::X86, "x86_64-linux-gnu"},
        {MachineFamily::Arm64, "aarch64-linux-gnu"},
        {MachineFamily::Arm32, "armv7-linux-gnueabihf"},
        {MachineFamily::ArmM, "thumbv7m-none-eabi"},
        {MachineFamily::RiscV, "riscv64-linux-gnu"}};
    std::set<std::string_view> disguises; // of processors whose wide vectors are hidden
    for (const Machine* machine : allMachines()) disguises.insert(machine->without);
    for (const Machine* machine : allMachines()) {
        // LLVM 19 has no name for these; `-machine` takes them.
        if (machine->isGeneric() || machine->name.starts_with("thead-") ||
            disguises.contains(machine->name))
            continue;
        const auto tables = cpuTables(triples.at(machine->family));
        ASSERT_TRUE(tables);
        std::vector<std::string> names = core::split(machine->kin, ' ');
        names.emplace_back(machine->name);
        for (const std::string& name : names)
            EXPECT_TRUE(name.empty() || name.back() == '*' ||
                        name.starts_with("rv32") || // GCC's, by the instructions
                        std::find(tables->cpus.begin(), tables->cpus.end(), name) !=
                            tables->cpus.end())
                << name;
    }
}

TEST(MachineFigures, comeFromTheRowOfTheProcessor)
{
    const MachineFacts known = factsOf(kArm + "cortex-a53");
    EXPECT_EQ(known.choice.machine, findMachine("cortex-a53"));
    EXPECT_TRUE(known.remarks.empty());
    EXPECT_EQ(factsOf("c -mcpu=cortex-m7+nofp").choice.machine, findMachine("cortex-m7"));
    EXPECT_EQ(factsOf("llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u74").choice.machine,
              findMachine("sifive-u74"));
    EXPECT_EQ(factsOf("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4").choice.machine,
              findMachine("znver4"));
    EXPECT_EQ(factsOf("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -mattr=-avx512f").choice.machine,
              findMachine("znver4-without-avx512"));
}

TEST(MachineFigures, sayWhoseTheyAreWhereTheProcessorHasNone)
{
    const MachineFacts known = factsOf(kArm + "cortex-a57");
    ASSERT_EQ(known.remarks.size(), 1u);
    EXPECT_EQ(known.remarks[0].code, core::OptionCode::NearestMachine);
    EXPECT_EQ(known.remarks[0].severity, Severity::Note);
    EXPECT_NE(known.remarks[0].message.find("Arm Cortex-A72"), std::string::npos);
    EXPECT_TRUE(factsOf("llvm -mtriple=aarch64-linux-gnu").remarks.empty());
}

TEST(MachineFigures, yieldToThoseOfTheTarget)
{
    const MachineFacts other = factsOf(kArm + "cortex-a57 -machine=cortex-a76");
    EXPECT_EQ(other.choice.machine, findMachine("cortex-a76"));
    EXPECT_TRUE(other.remarks.empty());
    EXPECT_EQ(other.facts.floatMacs, 8);
    const MachineFacts measured = factsOf(kArm + "cortex-a72 -machine=memory_bytes_per_cycle=1.5");
    EXPECT_EQ(measured.facts.memoryBytesPerCycle, 1.5);
}

TEST(MachineFigures, stayThoseOfTheTableWhereMeasuredOnesContradictThemselves)
{
    const MachineFacts plain = factsOf(kArm + "cortex-a72");
    const MachineFacts refused =
        factsOf(kArm + "cortex-a72 -machine=l1_bytes=4194304,memory_bytes_per_cycle=1.5");
    ASSERT_EQ(refused.remarks.size(), 1u);
    EXPECT_EQ(refused.remarks[0].code, core::OptionCode::ContradictoryFacts);
    EXPECT_EQ(refused.remarks[0].severity, Severity::Warning);
    EXPECT_EQ(refused.facts.memoryBytesPerCycle, plain.facts.memoryBytesPerCycle);
    EXPECT_EQ(refused.facts.l1Bytes, plain.facts.l1Bytes);
}

} // namespace
} // namespace tenon::compiler
