// SPDX-License-Identifier: Apache-2.0
// The target that follows from what processors say of themselves: their names, and never a feature
// that they lack.
#include "compiler/driver/target_features.h"
#include "remote/board/board_facts.h"
#include "remote/board/processor.h"
#include "remote/board/x86_processor.h"

#include <gtest/gtest.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/Host.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

namespace tenon::remote {
namespace {

std::string proposed(const std::string& machine, const std::string& cpuinfo)
{
    const auto facts = parseProbe("== machine\n" + machine + "\n== cpuinfo\n" + cpuinfo);
    if (!facts) return facts.error().text();
    const auto target = proposedTarget(*facts);
    return target ? *target : target.error().text();
}

std::string x86(const std::string& vendor, int family, int model, const std::string& flags)
{
    return proposed("x86_64", "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " +
                                  std::to_string(family) + "\nmodel\t\t: " + std::to_string(model) +
                                  "\nmodel name\t: a processor\nflags\t\t: " + flags + "\n");
}

std::string arm(const std::string& machine, const std::string& implementer, const std::string& part,
                const std::string& features)
{
    return proposed(machine, "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: " + features +
                                 "\nCPU implementer\t: " + implementer +
                                 "\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: " + part +
                                 "\nCPU revision\t: 1\n");
}

std::string without(std::string flags, const std::string& flag)
{
    const size_t at = (" " + flags + " ").find(" " + flag + " ");
    return at == std::string::npos ? flags : flags.erase(at, flag.size() + 1);
}

const std::string kX86 = "llvm -mtriple=x86_64-linux-gnu ";
const std::string kArm64 = "llvm -mtriple=aarch64-linux-gnu ";

const std::string kSkylakeServer =
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse "
    "sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl xtopology cpuid pni "
    "pclmulqdq ssse3 fma cx16 pcid sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor "
    "lahf_lm abm 3dnowprefetch invpcid_single pti fsgsbase bmi1 hle avx2 smep bmi2 erms invpcid "
    "rtm mpx avx512f avx512dq rdseed adx smap clflushopt avx512cd avx512bw avx512vl xsaveopt "
    "xsavec xsaves md_clear";
const std::string kZen3 =
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse "
    "sse2 ht syscall nx mmxext fxsr_opt pdpe1gb rdtscp lm constant_tsc rep_good nopl tsc_reliable "
    "nonstop_tsc cpuid extd_apicid aperfmperf pni pclmulqdq ssse3 fma cx16 pcid sse4_1 sse4_2 "
    "movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm cmp_legacy svm cr8_legacy abm sse4a "
    "misalignsse 3dnowprefetch osvw topoext invpcid_single vmmcall fsgsbase bmi1 avx2 smep bmi2 "
    "erms invpcid rdseed adx smap clflushopt clwb sha_ni xsaveopt xsavec xgetbv1 xsaves clzero "
    "xsaveerptr rdpru arat npt nrip_save tsc_scale vmcb_clean flushbyasid decodeassists "
    "pausefilter pfthreshold v_vmsave_vmload umip vaes vpclmulqdq rdpid fsrm";
const std::string kAlderLake =
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx "
    "fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp lm constant_tsc art arch_perfmon pebs "
    "bts rep_good nopl xtopology nonstop_tsc cpuid aperfmperf tsc_known_freq pni pclmulqdq dtes64 "
    "monitor ds_cpl vmx smx est tm2 ssse3 sdbg fma cx16 xtpr pdcm sse4_1 sse4_2 x2apic movbe "
    "popcnt tsc_deadline_timer aes xsave avx f16c rdrand lahf_lm abm 3dnowprefetch cpuid_fault epb "
    "ssbd ibrs ibpb stibp ibrs_enhanced tpr_shadow flexpriority ept vpid ept_ad fsgsbase "
    "tsc_adjust bmi1 avx2 smep bmi2 erms invpcid rdseed adx smap clflushopt clwb intel_pt sha_ni "
    "xsaveopt xsavec xgetbv1 xsaves split_lock_detect user_shstk avx_vnni dtherm ida arat pln pts "
    "hwp hwp_notify hwp_act_window hwp_epp hwp_pkg_req hfi vnmi umip pku ospke waitpkg gfni vaes "
    "vpclmulqdq tme rdpid movdiri movdir64b fsrm md_clear serialize pconfig arch_lbr ibt flush_l1d "
    "arch_capabilities";
const std::string kArmV8 = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid";
const std::string kArmV82 =
    "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop "
    "asimddp";

TEST(Processor, namesX86ProcessorsByFamilyAndModel)
{
    EXPECT_EQ(x86("GenuineIntel", 6, 85, kSkylakeServer),
              kX86 + "-mcpu=skylake-avx512 -num-cores=1");
    EXPECT_EQ(x86("GenuineIntel", 6, 85, kSkylakeServer + " avx512_vnni"),
              kX86 + "-mcpu=cascadelake -num-cores=1");
    EXPECT_EQ(x86("GenuineIntel", 6, 85, kSkylakeServer + " avx512_vnni avx512_bf16"),
              kX86 + "-mcpu=cooperlake -num-cores=1");
    EXPECT_EQ(x86("AuthenticAMD", 25, 1, kZen3), kX86 + "-mcpu=znver3 -num-cores=1");
    EXPECT_EQ(x86("AuthenticAMD", 25, 33, kZen3), kX86 + "-mcpu=znver3 -num-cores=1");
    EXPECT_EQ(x86("GenuineIntel", 6, 151, kAlderLake), kX86 + "-mcpu=alderlake -num-cores=1");
    EXPECT_EQ(x86("GenuineIntel", 6, 190, kAlderLake), kX86 + "-mcpu=gracemont -num-cores=1");
}

TEST(Processor, namesArmAndRiscvProcessorsByPart)
{
    EXPECT_EQ(arm("aarch64", "0x41", "0xd03", kArmV8), kArm64 + "-mcpu=cortex-a53 -num-cores=1");
    // A Raspberry Pi 4 has none of the cryptography that its processor may come with.
    EXPECT_EQ(arm("aarch64", "0x41", "0xd08", "fp asimd evtstrm crc32 cpuid"),
              kArm64 + "-mcpu=cortex-a72 -num-cores=1");
    EXPECT_EQ(arm("aarch64", "0x41", "0xd0b", kArmV82), kArm64 + "-mcpu=cortex-a76 -num-cores=1");
    EXPECT_EQ(arm("aarch64", "0x41", "0xd0c", kArmV82), kArm64 + "-mcpu=neoverse-n1 -num-cores=1");
    EXPECT_EQ(arm("armv7l", "0x41", "0xc09", "half thumb fastmult vfp edsp neon vfpv3 tls"),
              "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a9 -num-cores=1");
    const std::string u74 = "processor\t: 0\nhart\t\t: 2\nisa\t\t: "
                            "rv64imafdc_zicntr_zicsr_zifencei_zihpm_zba_zbb\nmmu\t\t: sv39\n"
                            "uarch\t\t: sifive,u74-mc\nmvendorid\t: 0x489\n";
    EXPECT_EQ(proposed("riscv64", u74), "llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u74 "
                                        "-mattr=+zba,+zbb -num-cores=1");
    EXPECT_EQ(proposed("riscv64", "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64imafdcv\n"
                                  "uarch\t\t: thead,c908\n"),
              "llvm -mtriple=riscv64-linux-gnu -mattr=+c,+d,+f,+v,+m,+a -num-cores=1");
}

TEST(Processor, fallsBackToFeaturesWhenItIsUnknown)
{
    EXPECT_EQ(x86("GenuineIntel", 6, 9999, "fpu sse2 avx2 fma hypervisor"),
              kX86 + "-mattr=+avx2,+fma -num-cores=1");
    EXPECT_EQ(x86("GenuineIntel", 15, 6, "fpu sse2 pni cx16 hypervisor lahf_lm"), // QEMU's qemu64
              kX86 + "-mattr=+cx16,+sahf,+sse3 -num-cores=1");
    EXPECT_EQ(x86("SomebodyElse", 6, 85, "fpu avx"), kX86 + "-mattr=+avx -num-cores=1");
    EXPECT_EQ(arm("aarch64", "0x41", "0xfff", kArmV82),
              kArm64 + "-mattr=+neon,+dotprod,+fullfp16,+lse,+rdm -num-cores=1");
    EXPECT_EQ(arm("aarch64", "0x61", "0xd03", kArmV8), kArm64 + "-mattr=+neon -num-cores=1");
}

TEST(Processor, switchesOffWhatAHypervisorOrAFuseHides)
{
    EXPECT_EQ(x86("GenuineIntel", 6, 151, without(kAlderLake, "avx_vnni")),
              kX86 + "-mcpu=alderlake -mattr=-avxvnni -num-cores=1");
    EXPECT_EQ(arm("aarch64", "0x41", "0xd0b", without(kArmV82, "asimddp")),
              kArm64 + "-mcpu=cortex-a76 -mattr=-dotprod -num-cores=1");
    EXPECT_EQ(arm("armv7l", "0x41", "0xc09", "half thumb fastmult vfp edsp vfpv3 vfpv3d16 tls"),
              "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a9 -mattr=-neon -num-cores=1");
    // Phones and boards with a Cortex-A510 whose makers left SVE off.
    const std::string hidden = arm("aarch64", "0x41", "0xd46", kArmV82 + " i8mm bf16 asimdfhm");
    EXPECT_EQ(hidden, kArm64 + "-mcpu=cortex-a510 -mattr=-sve,-sve2 -num-cores=1");
    const auto features = compiler::targetFeatures(hidden);
    ASSERT_TRUE(features);
    for (const std::string& each : *features)
        EXPECT_EQ(each.find("sve"), std::string::npos) << each;
}

TEST(Processor, survivesAnythingACpuinfoMaySay)
{
    for (const char* text :
         {"", ":", "flags", "flags :", "vendor_id : GenuineIntel\nmodel : 85\n",
          "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\n", // no flags: no name either
          "vendor_id : GenuineIntel\ncpu family : six\nmodel : -85\nflags : \n",
          "vendor_id : AuthenticAMD\ncpu family : 99999999999999999999\nmodel : 1\nflags : \n"})
        EXPECT_EQ(proposed("x86_64", text), "llvm -mtriple=x86_64-linux-gnu") << text;
    for (const char* text : {"CPU part :\n", "CPU implementer : x\nCPU part : y\n",
                             "CPU implementer : 0x41\nCPU part : 0xd0b0b0b0b0b0b0b0b0b\n"})
        EXPECT_EQ(proposed("aarch64", text), kArm64 + "-mattr=+neon") << text;
    // An ARMv6 processor, as in the first Raspberry Pi, does not run code for ARMv7.
    EXPECT_NE(proposed("armv6l", "CPU implementer : 0x41\nCPU part : 0xb76\n")
                  .find("no code generator for a board of machine `armv6l`"),
              std::string::npos);
}

/// Part numbers of all of Arm's licensees that the table has, or might come to have.
constexpr unsigned kImplementers[] = {0x41, 0x46, 0x48, 0x4e, 0x51, 0x61, 0xc0};

TEST(Processor, givesArmPartsTheNamesThatLlvmGivesThem)
{
    int known = 0;
    for (const unsigned implementer : kImplementers)
        for (unsigned part = 0; part < 0x1000; ++part) {
            char text[64];
            std::snprintf(text, sizeof text, "CPU implementer\t: 0x%02x\nCPU part\t: 0x%03x\n",
                          implementer, part);
            const Processor processor = processorOf("aarch64", text);
            if (processor.llvmName.empty()) continue;
            ++known;
            EXPECT_EQ(processor.llvmName, llvm::sys::detail::getHostCPUNameForARM(text).str())
                << text;
        }
    EXPECT_GT(known, 30);
}

/// Features that code for the target may use and that a kernel has a name for.
std::vector<std::string> usable(const std::string& target, const std::string& machine)
{
    std::vector<std::string> out;
    const auto features = compiler::targetFeatures(target);
    EXPECT_TRUE(features) << target << ": " << features.error().text();
    if (!features) return out;
    for (const FeatureName& each : namedFeatures(machine))
        if (std::find(features->begin(), features->end(), each.llvm) != features->end())
            out.emplace_back(each.kernel);
    std::sort(out.begin(), out.end());
    return out;
}

void expectNothingClaimed(BoardFacts facts, std::mt19937& random)
{
    const auto whole = proposedTarget(facts); // nothing told of features: all that the name implies
    ASSERT_TRUE(whole);
    for (int round = 0; round < 4; ++round) {
        facts.features = {"something"};
        for (const std::string& each : usable(*whole, facts.machine))
            if (round == 0 || random() % 4 != 0) facts.features.push_back(each);
        std::sort(facts.features.begin(), facts.features.end());
        const auto target = proposedTarget(facts);
        ASSERT_TRUE(target);
        EXPECT_NE(target->find("-mcpu=" + facts.cpu), std::string::npos);
        EXPECT_EQ(target->find("-mattr") == std::string::npos,
                  round == 0 || facts.features.size() == usable(*whole, facts.machine).size() + 1);
        for (const std::string& each : usable(*target, facts.machine))
            EXPECT_TRUE(facts.hasFeature(each)) << *target << " claims " << each;
    }
}

TEST(Processor, neverClaimsAFeatureThatTheBoardLacks)
{
    std::mt19937 random(1);
    for (const std::string& name : x86ProcessorNames())
        expectNothingClaimed({.machine = "x86_64", .cpu = name}, random);
    for (const char* name : {"cortex-a53", "cortex-a55", "cortex-a76", "cortex-a510", "cortex-x3",
                             "neoverse-v1", "neoverse-v2", "carmel", "a64fx", "ampere1"})
        expectNothingClaimed({.machine = "aarch64", .cpu = name}, random);
    for (const char* name : {"cortex-a5", "cortex-a7", "cortex-a9", "cortex-a15", "cortex-a72"})
        expectNothingClaimed({.machine = "armv7l", .cpu = name}, random);
}

TEST(Processor, claimsNothingThatThisComputerLacks)
{
    utsname system{};
    ASSERT_EQ(uname(&system), 0);
    std::string cpuinfo; // files of /proc do not tell their size
    std::getline(std::ifstream("/proc/cpuinfo"), cpuinfo, '\0');
    ASSERT_FALSE(cpuinfo.empty());
    const std::string target = proposed(system.machine, cpuinfo);
    const std::vector<std::string> here = usable("llvm -mcpu=native", system.machine);
    for (const std::string& each : usable(target, system.machine))
        EXPECT_TRUE(std::binary_search(here.begin(), here.end(), each))
            << target << " claims " << each;
}

} // namespace
} // namespace tenon::remote
