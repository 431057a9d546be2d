// SPDX-License-Identifier: Apache-2.0
// Tables of processors and features. Part numbers: MIDR_EL1 in Arm's reference manuals; feature
// names: Linux, Documentation/arch/arm64/elf_hwcaps.rst and arch/x86/include/asm/cpufeatures.h.
#include "remote/board/processor.h"

#include "core/base/text.h"
#include "remote/board/x86_processor.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tenon::remote {

namespace {

struct Part
{
    unsigned implementer;
    unsigned number;
    std::string_view llvmName;
    std::string_view title;
};
constexpr std::array kParts{
    Part{0x41, 0xc05, "cortex-a5", "Cortex-A5"},
    Part{0x41, 0xc07, "cortex-a7", "Cortex-A7"},
    Part{0x41, 0xc08, "cortex-a8", "Cortex-A8"},
    Part{0x41, 0xc09, "cortex-a9", "Cortex-A9"},
    Part{0x41, 0xc0e, "cortex-a17", "Cortex-A17"},
    Part{0x41, 0xc0f, "cortex-a15", "Cortex-A15"},
    Part{0x41, 0xd02, "cortex-a34", "Cortex-A34"},
    Part{0x41, 0xd03, "cortex-a53", "Cortex-A53"},
    Part{0x41, 0xd04, "cortex-a35", "Cortex-A35"},
    Part{0x41, 0xd05, "cortex-a55", "Cortex-A55"},
    Part{0x41, 0xd07, "cortex-a57", "Cortex-A57"},
    Part{0x41, 0xd08, "cortex-a72", "Cortex-A72"},
    Part{0x41, 0xd09, "cortex-a73", "Cortex-A73"},
    Part{0x41, 0xd0a, "cortex-a75", "Cortex-A75"},
    Part{0x41, 0xd0b, "cortex-a76", "Cortex-A76"},
    Part{0x41, 0xd0c, "neoverse-n1", "Neoverse N1"},
    Part{0x41, 0xd0d, "cortex-a77", "Cortex-A77"},
    Part{0x41, 0xd40, "neoverse-v1", "Neoverse V1"},
    Part{0x41, 0xd41, "cortex-a78", "Cortex-A78"},
    Part{0x41, 0xd42, "cortex-a78ae", "Cortex-A78AE"},
    Part{0x41, 0xd44, "cortex-x1", "Cortex-X1"},
    Part{0x41, 0xd46, "cortex-a510", "Cortex-A510"},
    Part{0x41, 0xd47, "cortex-a710", "Cortex-A710"},
    Part{0x41, 0xd48, "cortex-x2", "Cortex-X2"},
    Part{0x41, 0xd49, "neoverse-n2", "Neoverse N2"},
    Part{0x41, 0xd4b, "cortex-a78c", "Cortex-A78C"},
    Part{0x41, 0xd4d, "cortex-a715", "Cortex-A715"},
    Part{0x41, 0xd4e, "cortex-x3", "Cortex-X3"},
    Part{0x41, 0xd4f, "neoverse-v2", "Neoverse V2"},
    Part{0x46, 0x001, "a64fx", "A64FX"},
    Part{0x48, 0xd01, "tsv110", "Kunpeng 920"},
    Part{0x4e, 0x004, "carmel", "Carmel"},
    Part{0xc0, 0xac3, "ampere1", "AmpereOne"},
};

// Only what compiled kernels can come to use: LLVM counts AES among the features of a Cortex-A72,
// the one in a Raspberry Pi has none, and no kernel ever asks.
constexpr std::array kArm64Features{
    FeatureName{"bf16", "bf16"},        FeatureName{"dotprod", "asimddp"},
    FeatureName{"fp16fml", "asimdfhm"}, FeatureName{"fullfp16", "asimdhp"},
    FeatureName{"i8mm", "i8mm"},        FeatureName{"lse", "atomics"},
    FeatureName{"rdm", "asimdrdm"},     FeatureName{"sve", "sve"},
    FeatureName{"sve2", "sve2"},
};
constexpr std::array kArm32Features{
    FeatureName{"neon", "neon"},
    FeatureName{"vfp4", "vfpv4"},
    FeatureName{"hwdiv-arm", "idiva"},
};
constexpr std::array kX86Features{
    FeatureName{"avx", "avx"},
    FeatureName{"avx2", "avx2"},
    FeatureName{"avx512bf16", "avx512_bf16"},
    FeatureName{"avx512bw", "avx512bw"},
    FeatureName{"avx512cd", "avx512cd"},
    FeatureName{"avx512dq", "avx512dq"},
    FeatureName{"avx512f", "avx512f"},
    FeatureName{"avx512fp16", "avx512_fp16"},
    FeatureName{"avx512vl", "avx512vl"},
    FeatureName{"avx512vnni", "avx512_vnni"},
    FeatureName{"avxvnni", "avx_vnni"},
    FeatureName{"f16c", "f16c"},
    FeatureName{"fma", "fma"},
    FeatureName{"sse4.2", "sse4_2"},
};
// Single instructions that LLVM picks by itself.
constexpr std::array kX86Details{
    FeatureName{"avx512bitalg", "avx512_bitalg"},
    FeatureName{"avx512ifma", "avx512ifma"},
    FeatureName{"avx512vbmi", "avx512vbmi"},
    FeatureName{"avx512vbmi2", "avx512_vbmi2"},
    FeatureName{"avx512vpopcntdq", "avx512_vpopcntdq"},
    FeatureName{"avxifma", "avx_ifma"},
    FeatureName{"bmi", "bmi1"},
    FeatureName{"bmi2", "bmi2"},
    FeatureName{"cx16", "cx16"},
    FeatureName{"fma4", "fma4"},
    FeatureName{"gfni", "gfni"},
    FeatureName{"lzcnt", "abm"},
    FeatureName{"movbe", "movbe"},
    FeatureName{"popcnt", "popcnt"},
    FeatureName{"prfchw", "3dnowprefetch"},
    FeatureName{"sahf", "lahf_lm"},
    FeatureName{"sse3", "pni"},
    FeatureName{"sse4.1", "sse4_1"},
    FeatureName{"sse4a", "sse4a"},
    FeatureName{"ssse3", "ssse3"},
    FeatureName{"tbm", "tbm"},
    FeatureName{"xop", "xop"},
};
constexpr std::array kRiscvFeatures{
    FeatureName{"c", "c"},     FeatureName{"d", "d"},     FeatureName{"f", "f"},
    FeatureName{"v", "v"},     FeatureName{"zba", "zba"}, FeatureName{"zbb", "zbb"},
    FeatureName{"zfh", "zfh"},
};

/// An ARMv6 board, as the first Raspberry Pi, runs none of this code.
bool isArm32(const std::string& machine)
{
    return machine.starts_with("armv7") || machine.starts_with("armv8");
}

/// Value of the first line of this name; the first processor stands for all.
std::string field(const std::string& cpuinfo, std::string_view name)
{
    for (const std::string& line : core::split(cpuinfo, '\n')) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        if (core::trimmed(std::string_view(line).substr(0, colon)) == name)
            return std::string(core::trimmed(std::string_view(line).substr(colon + 1)));
    }
    return {};
}

/// "rv64imafdcv_zba_zbb" as single extensions.
std::vector<std::string> riscvExtensions(const std::string& isa)
{
    std::vector<std::string> out;
    const std::vector<std::string> parts = core::split(isa, '_');
    for (size_t i = 4; !parts.empty() && i < parts[0].size(); ++i) {
        if (parts[0][i] == 'g')
            out.insert(out.end(), {"i", "m", "a", "f", "d"});
        else
            out.emplace_back(1, parts[0][i]);
    }
    for (size_t i = 1; i < parts.size(); ++i) out.push_back(parts[i]);
    return out;
}

unsigned count(const std::string& text)
{
    return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

Processor x86Processor(const std::string& cpuinfo)
{
    const X86Identity identity{.vendor = field(cpuinfo, "vendor_id"),
                               .family = count(field(cpuinfo, "cpu family")),
                               .model = count(field(cpuinfo, "model"))};
    return {x86ProcessorName(identity, hwcapFeatures("x86_64", cpuinfo)),
            field(cpuinfo, "model name")};
}

/// By the processor's name in the device tree.
Processor riscvProcessor(const std::string& cpuinfo)
{
    const std::string name = field(cpuinfo, "uarch");
    const bool isU74 = name == "sifive,u74-mc" || name == "sifive,u74" || name == "sifive,bullet0";
    return {isU74 ? "sifive-u74" : "", name};
}

} // namespace

Processor processorOf(const std::string& machine, const std::string& cpuinfo)
{
    if (machine == "x86_64") return x86Processor(cpuinfo);
    if (machine.starts_with("riscv")) return riscvProcessor(cpuinfo);
    const std::string number = field(cpuinfo, "CPU part");
    const std::string maker = field(cpuinfo, "CPU implementer");
    const auto implementer = static_cast<unsigned>(std::strtoul(maker.c_str(), nullptr, 16));
    const auto part = static_cast<unsigned>(std::strtoul(number.c_str(), nullptr, 16));
    for (const Part& each : kParts)
        if (each.implementer == implementer && each.number == part)
            return {std::string(each.llvmName), std::string(each.title)};
    return {"", number.empty() ? "" : "processor " + maker + "/" + number};
}

std::vector<std::string> hwcapFeatures(const std::string& machine, const std::string& cpuinfo)
{
    std::vector<std::string> out;
    if (machine.starts_with("riscv")) {
        out = riscvExtensions(field(cpuinfo, "isa"));
    } else {
        const char* name = machine == "x86_64" ? "flags" : "Features";
        for (const std::string& word : core::split(field(cpuinfo, name), ' '))
            if (!word.empty()) out.push_back(word);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string tripleOf(const std::string& machine, bool isHardFloat)
{
    if (machine == "aarch64" || machine == "arm64") return "aarch64-linux-gnu";
    if (machine == "x86_64") return "x86_64-linux-gnu";
    if (machine == "riscv64") return "riscv64-linux-gnu";
    if (isArm32(machine)) return isHardFloat ? "armv7-linux-gnueabihf" : "armv7-linux-gnueabi";
    return {};
}

std::vector<FeatureName> notableFeatures(const std::string& machine)
{
    if (machine == "x86_64") return {kX86Features.begin(), kX86Features.end()};
    if (machine.starts_with("riscv")) return {kRiscvFeatures.begin(), kRiscvFeatures.end()};
    if (isArm32(machine)) return {kArm32Features.begin(), kArm32Features.end()};
    return {kArm64Features.begin(), kArm64Features.end()};
}

std::vector<FeatureName> namedFeatures(const std::string& machine)
{
    std::vector<FeatureName> out = notableFeatures(machine);
    if (machine == "x86_64") out.insert(out.end(), kX86Details.begin(), kX86Details.end());
    return out;
}

std::vector<std::string> featureOptions(const BoardFacts& facts,
                                        const std::vector<std::string>& implied)
{
    const auto isImplied = [&](std::string_view name) {
        return std::find(implied.begin(), implied.end(), name) != implied.end();
    };
    std::vector<std::string> out;
    if (facts.machine == "aarch64" && !isImplied("neon")) out.emplace_back("+neon");
    if (facts.features.empty()) return out; // not told: the processor's name is all there is
    const std::vector<FeatureName> features = namedFeatures(facts.machine);
    for (const FeatureName& feature : features)
        if (facts.hasFeature(feature.kernel) && !isImplied(feature.llvm))
            out.push_back("+" + std::string(feature.llvm));
    if (facts.machine.starts_with("riscv"))
        for (const char* base : {"m", "a"})
            if (facts.hasFeature(base) && !isImplied(base)) out.push_back(std::string("+") + base);
    // Last, so that what the board lacks stays off: a hypervisor or a fuse may hide some.
    for (const FeatureName& feature : features)
        if (!facts.hasFeature(feature.kernel) && isImplied(feature.llvm))
            out.push_back("-" + std::string(feature.llvm));
    return out;
}

} // namespace tenon::remote
