// SPDX-License-Identifier: Apache-2.0
// What is known of processors: the rows agree with themselves, and who has none gets the nearest.
#include "core/base/option_code.h"
#include "core/target/machine_option.h"
#include "core/target/machine_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tenon::core {
namespace {

const Machine& row(const char* name) { return *findMachine(name); }

MachineChoice chosen(MachineFamily family, std::string_view cpu,
                     const std::set<std::string>& features = {})
{
    return chooseMachine(family, cpu, [&](std::string_view feature) {
        return features.count(std::string(feature)) > 0;
    });
}

std::optional<MachineOption> optionOf(const std::string& text)
{
    const auto target = parseTarget("llvm -mcpu=haswell -machine=" + text);
    if (!target) return std::nullopt;
    const auto option = machineOption(*target);
    return option ? *option : std::nullopt;
}

std::string refusalOf(const std::string& text)
{
    const auto target = parseTarget("llvm -mcpu=haswell -machine=" + text);
    return target ? "" : target.error().message;
}

TEST(MachineTable, HasRowsThatAgreeWithThemselves)
{
    std::set<std::string_view> names;
    for (const Machine* machine : allMachines()) {
        EXPECT_TRUE(names.insert(machine->name).second) << machine->name << " is there twice";
        TargetFacts facts;
        applyMachine(*machine, facts);
        const Status fine = checkFacts(facts);
        EXPECT_TRUE(fine) << machine->name << ": " << (fine ? "" : fine.error().message);
        for (const NamedFigure& each : figuresOf(*machine)) {
            EXPECT_TRUE(std::isfinite(each.figure.value)) << machine->name << " " << each.name;
            const bool mayBeNone = each.unit == "KiB" || each.name.starts_with("l2_bytes") ||
                                   each.name.starts_with("l3_bytes");
            EXPECT_TRUE(each.figure.value > 0 || mayBeNone) << machine->name << " " << each.name;
        }
    }
}

TEST(MachineTable, KnowsTheProcessorsThatPeopleDeployTo)
{
    for (const char* name :
         {"cortex-a7",  "cortex-a53", "cortex-a55",     "cortex-a72",     "cortex-a76",
          "cortex-a78", "cortex-x1",  "neoverse-n1",    "neoverse-v1",    "neoverse-n2",
          "sifive-u74", "thead-c906", "thead-c910",     "spacemit-x60",   "cortex-m0plus",
          "cortex-m3",  "cortex-m4",  "cortex-m7",      "cortex-m33",     "cortex-m55",
          "cortex-m85", "haswell",    "skylake-avx512", "icelake-server", "sapphirerapids",
          "znver2",     "znver3",     "znver4"})
        EXPECT_TRUE(findMachine(name)) << name;
}

TEST(MachineTable, MarksFiguresWithoutASourceAsEstimated)
{
    EXPECT_FALSE(row("cortex-a72").memoryBytesPerCycle.isEstimated());
    EXPECT_TRUE(row("cortex-a72").l2BytesPerCycle.isEstimated());
    for (const Machine* machine : allMachines()) {
        if (!machine->isGeneric()) continue;
        for (const NamedFigure& each : figuresOf(*machine))
            EXPECT_TRUE(each.figure.isEstimated()) << machine->name << " " << each.name;
    }
}

TEST(MachineTable, BelievesFeaturesMoreThanAModelThatAVirtualMachineClaims)
{
    const auto plain = chosen(MachineFamily::X86, "rocketlake", {"avx2", "avx512f", "avx512vnni"});
    EXPECT_EQ(plain.machine, &row("icelake-server"));
    const auto disguised =
        chosen(MachineFamily::X86, "rocketlake", {"avx2", "avx512f", "avx512vnni", "avx512bf16"});
    EXPECT_EQ(disguised.machine, &row("sapphirerapids"));
    EXPECT_EQ(disguised.why, "which has avx512bf16, too");
    const auto small = chosen(MachineFamily::Arm64, "cortex-a510", {"neon", "dotprod", "i8mm"});
    EXPECT_EQ(small.why, "of the same kind") << "a small core has what big ones have";
}

TEST(MachineTable, TakesNoRatesOfVectorsThatAVirtualMachineHides)
{
    const auto shownOf = [](const char* cpu, const std::set<std::string>& features) {
        const auto has = [&](std::string_view feature) {
            return features.count(std::string(feature)) > 0;
        };
        return withoutHidden(chooseMachine(MachineFamily::X86, cpu, has), has);
    };
    for (const Machine* machine : allMachines()) {
        if (machine->needs.empty()) continue;
        const std::string cpu(machine->name);
        EXPECT_EQ(shownOf(cpu.c_str(), {"avx2", "avx512f"}).machine, machine);
        const MachineChoice hidden = shownOf(cpu.c_str(), {"avx2"});
        ASSERT_TRUE(hidden.machine) << cpu;
        EXPECT_EQ(hidden.machine->name, machine->without);
        EXPECT_FALSE(hidden.isNearest) << "nothing nearer is to be had";
        EXPECT_LT(hidden.machine->byteMacs.value, machine->byteMacs.value);
        EXPECT_EQ(hidden.machine->l1KiB.value, machine->l1KiB.value);
    }
    EXPECT_EQ(shownOf("znver3", {"avx2"}).machine, &row("znver3"));
}

TEST(MachineTable, TakesTheNearestRowAndSaysSo)
{
    const MachineChoice own = chosen(MachineFamily::Arm64, "cortex-a72");
    EXPECT_EQ(own.machine, &row("cortex-a72"));
    EXPECT_FALSE(own.isNearest);
    EXPECT_EQ(chosen(MachineFamily::RiscV, "", {"v"}).machine, &row("generic-riscv-v"));
    EXPECT_EQ(chosen(MachineFamily::RiscV, "").machine, &row("generic-riscv"));
    const MachineChoice kin = chosen(MachineFamily::Arm64, "cortex-a73");
    EXPECT_EQ(kin.machine, &row("cortex-a72"));
    EXPECT_EQ(
        nearestText("cortex-a73", kin),
        "no figures of `cortex-a73`: those of Arm Cortex-A72 are taken, of the same kind; see "
        "`tenon targets --machine cortex-a72`");
    EXPECT_EQ(chosen(MachineFamily::Arm64, "apple-m4").machine, &row("cortex-x1"));
    const MachineChoice alike = chosen(MachineFamily::X86, "knl", {"avx2", "avx512f"});
    EXPECT_EQ(alike.machine, &row("skylake-avx512"));
    EXPECT_EQ(alike.why, "which has avx512f, too");
    EXPECT_EQ(chosen(MachineFamily::X86, "x86-64").machine, &row("generic-x86"));
    EXPECT_EQ(chosen(MachineFamily::X86, "x86-64-v3", {"avx", "avx2"}).machine,
              &row("generic-x86-avx2"));
    EXPECT_EQ(chosen(MachineFamily::X86, "", {"avx", "avx2", "avx512f", "avx512vnni"}).machine,
              &row("generic-x86-vnni"));
    const MachineChoice strange = chosen(MachineFamily::X86, "bonnell");
    EXPECT_EQ(strange.machine, &row("generic-x86"));
    EXPECT_TRUE(strange.isNearest);
    const std::string slip = nearestText("cortex-m44", chosen(MachineFamily::ArmM, "cortex-m44"));
    EXPECT_NE(slip.find("nearest names are `cortex-m4`"), std::string::npos) << slip;
}

TEST(MachineTable, NamesNobodyWhereNobodyIsNamed)
{
    for (const char* cpu : {"", "generic", "x86-64", "x86-64-v3"})
        EXPECT_FALSE(chosen(MachineFamily::X86, cpu, {"avx2"}).isNearest) << cpu;
    EXPECT_FALSE(chosen(MachineFamily::WebAssembly, "bleeding-edge").isNearest);
}

TEST(MachineTable, HasNoSecondLevelWhereTheProcessorHasNone)
{
    TargetFacts facts;
    applyMachine(row("thead-c906"), facts);
    EXPECT_EQ(facts.l2Bytes, facts.l1Bytes);
    EXPECT_EQ(facts.l2BytesPerCycle, facts.memoryBytesPerCycle);
    EXPECT_EQ(facts.farBytesPerCycle(), facts.memoryBytesPerCycle);
}

TEST(MachineOption, ReadsARowAndFigures)
{
    const auto option = optionOf("cortex-a72,l2_bytes=524288,memory_bytes_per_cycle=2.5");
    ASSERT_TRUE(option);
    EXPECT_EQ(option->machine, &row("cortex-a72"));
    TargetFacts facts;
    ASSERT_TRUE(applyFigures(option->figures, facts));
    EXPECT_EQ(facts.l2Bytes, 524288);
    EXPECT_EQ(facts.memoryBytesPerCycle, 2.5);
    EXPECT_EQ(machineText(option->figures), "l2_bytes=524288,memory_bytes_per_cycle=2.5");
}

TEST(MachineOption, RefusesWhatItDoesNotKnow)
{
    EXPECT_NE(refusalOf("cortex-a27").find("nearest are `cortex-a7`"), std::string::npos)
        << refusalOf("cortex-a27");
    EXPECT_NE(refusalOf("l2_byte=5").find("nearest are `l2_bytes`"), std::string::npos);
    EXPECT_NE(refusalOf("l2_bytes=much").find("is no number"), std::string::npos);
    EXPECT_NE(refusalOf("vector_bytes=128").find("is no figure"), std::string::npos);
}

TEST(MachineOption, RefusesFiguresThatContradictThemselves)
{
    const double nothing = 0, nan = std::nan(""), much = 1e300;
    const std::vector<std::vector<std::pair<std::string, double>>> wrong = {
        {{"memory_bytes_per_cycle", nothing}},
        {{"l2_bytes_per_cycle", nan}},
        {{"float_macs", -1}},
        {{"l1_bytes", 4 << 20}, {"l2_bytes", 1 << 20}},
        {{"l3_bytes", 1 << 10}},
        {{"memory_bytes_per_cycle", 1000}},
        {{"l2_bytes", much}},
        {{"l1_bytes_per_cycle", HUGE_VAL}}};
    for (const auto& figures : wrong) {
        TargetFacts facts;
        const Status refused = applyFigures(figures, facts);
        ASSERT_FALSE(refused) << machineText(figures);
        EXPECT_EQ(refused.error().code, OptionCode::ContradictoryFacts);
        EXPECT_NE(refused.error().message.find("table are taken instead"), std::string::npos);
        EXPECT_EQ(facts.l2Bytes, TargetFacts().l2Bytes) << "nothing is taken of it";
        EXPECT_EQ(facts.memoryBytesPerCycle, TargetFacts().memoryBytesPerCycle);
    }
}

} // namespace
} // namespace tenon::core
