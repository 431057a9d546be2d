// SPDX-License-Identifier: Apache-2.0
// x86 processors. What caches and memory give is what one core's loops sustain, not what the wires
// could.
#include "core/target/machine_rows.h"

namespace tenon::core {
namespace {

constexpr std::string_view kIntel = "Intel Optimization Reference Manual (248966), chapter 2";
constexpr std::string_view kLlvm = "LLVM 19, scheduling model (llvm-mca)";
constexpr std::string_view kFog = "Agner Fog, Instruction tables";
constexpr std::string_view kZen2 =
    "AMD 56305, Software Optimization Guide for family 17h, chapter 2";
constexpr std::string_view kZen3 =
    "AMD 56665, Software Optimization Guide for family 19h, chapter 2";
constexpr std::string_view kZen4 = "AMD 57647, Software Optimization Guide for Zen 4, chapter 2";
constexpr std::string_view kPeak = "measured: Zen 5 server core, tenon_bench peak";
constexpr std::string_view kZen4Cache = "measured: Zen 4 server core, tenon_bench peak";
/// Convolutions, products of matrices and copies between layouts, two cores at work.
/// 40 GB/s, and 24 where loops asked for lines ahead of time.
constexpr std::string_view kZen4Stream = "measured: Zen 4 server core, weights of a dense layer";
constexpr std::string_view kTuned = "measured: Sapphire Rapids, kernels of Tenon on two threads";

constexpr Machine kHaswell = {.name = "haswell",
                              .title = "Intel Haswell",
                              .family = MachineFamily::X86,
                              .kin = "broadwell skylake core-avx2",
                              .feature = "avx2",
                              .clockGhz = {3.4},
                              .floatMacs = {16, kIntel},
                              .byteMacs = {16, kFog},
                              .vectorPipes = {2, kIntel},
                              .issueWidth = {4, kIntel},
                              .loads = {2, kIntel},
                              .sumLatency = {5, kLlvm},
                              .l1KiB = {32, kIntel},
                              .l1BytesPerCycle = {64, kIntel},
                              .l2KiB = {256, kIntel},
                              .l2BytesPerCycle = {25, kIntel},
                              .l3KiB = {8192, kIntel},
                              .l3BytesPerCycle = {12},
                              .memoryBytesPerCycle = {4},
                              .forkCycles = {3400}};

constexpr Machine kSkylakeX = {.name = "skylake-avx512",
                               .title = "Intel Skylake-X",
                               .family = MachineFamily::X86,
                               .kin = "cannonlake skx",
                               .feature = "avx512f",
                               .needs = "avx512f",
                               .without = "skylake-without-avx512",
                               .clockGhz = {3},
                               .floatMacs = {32, kIntel},
                               .byteMacs = {64, kFog},
                               .vectorPipes = {2, kIntel},
                               .issueWidth = {4, kIntel},
                               .loads = {2, kIntel},
                               .sumLatency = {4, kLlvm},
                               .l1KiB = {32, kIntel},
                               .l1BytesPerCycle = {128, kIntel},
                               .l2KiB = {1024, kIntel},
                               .l2BytesPerCycle = {32},
                               .l3KiB = {16384},
                               .l3BytesPerCycle = {12},
                               .memoryBytesPerCycle = {4.5},
                               .forkCycles = {3125}};

constexpr Machine kIceLake = {.name = "icelake-server",
                              .title = "Intel Ice Lake, server",
                              .family = MachineFamily::X86,
                              .kin = "rocketlake",
                              .feature = "avx512vnni",
                              .needs = "avx512f",
                              .without = "icelake-without-avx512",
                              .clockGhz = {3},
                              .floatMacs = {32, kIntel},
                              .byteMacs = {128, kIntel},
                              .vectorPipes = {2, kIntel},
                              .issueWidth = {5, kIntel},
                              .loads = {2, kIntel},
                              .sumLatency = {4, kLlvm},
                              .l1KiB = {48, kIntel},
                              .l1BytesPerCycle = {128, kIntel},
                              .l2KiB = {1280, kIntel},
                              .l2BytesPerCycle = {32},
                              .l3KiB = {36864},
                              .l3BytesPerCycle = {12},
                              .memoryBytesPerCycle = {4.5},
                              .forkCycles = {3125}};

constexpr Machine kSapphireRapids = {.name = "sapphirerapids",
                                     .title = "Intel Sapphire Rapids",
                                     .family = MachineFamily::X86,
                                     .kin = "graniterapids-d graniterapids_d",
                                     .feature = "avx512bf16",
                                     .needs = "avx512f",
                                     .without = "sapphirerapids-without-avx512",
                                     .clockGhz = {3.1, kTuned},
                                     .floatMacs = {32, kIntel},
                                     .byteMacs = {128, kIntel},
                                     .byteTileMacs = {1024, kIntel},
                                     .vectorPipes = {2, kIntel},
                                     .issueWidth = {6, kIntel},
                                     .loads = {3, kIntel},
                                     .sumLatency = {4, kLlvm},
                                     .l1KiB = {48, kIntel},
                                     .l1BytesPerCycle = {128, kIntel},
                                     .l2KiB = {2048, kIntel},
                                     .l2BytesPerCycle = {32, kTuned},
                                     .l3KiB = {107520},
                                     .l3BytesPerCycle = {12, kTuned},
                                     .memoryBytesPerCycle = {4.5, kTuned},
                                     .coldShare = {8.0 / 9, kTuned},
                                     .forkCycles = {3125, kTuned}};

/// As Haswell, with more loads and other caches; efficient cores are not looked at.
constexpr Machine kAlderLake = {.name = "alderlake",
                                .title = "Intel Alder Lake",
                                .family = MachineFamily::X86,
                                .kin = "meteorlake arrowlake arrowlake-s lunarlake",
                                .feature = "avxvnni",
                                .clockGhz = {4.5},
                                .floatMacs = {16, kIntel},
                                .byteMacs = {64, kIntel},
                                .vectorPipes = {2, kIntel},
                                .issueWidth = {6, kIntel},
                                .loads = {3, kIntel},
                                .sumLatency = {4, kLlvm},
                                .l1KiB = {48, kIntel},
                                .l1BytesPerCycle = {96, kIntel},
                                .l2KiB = {1280, kIntel},
                                .l2BytesPerCycle = {32},
                                .l3KiB = {30720},
                                .l3BytesPerCycle = {12},
                                .memoryBytesPerCycle = {5},
                                .forkCycles = {4500}};

constexpr Machine kZen2Row = {.name = "znver2",
                              .title = "AMD Zen 2",
                              .family = MachineFamily::X86,
                              .clockGhz = {3.4},
                              .floatMacs = {16, kZen2},
                              .byteMacs = {32, kFog},
                              .vectorPipes = {2, kZen2},
                              .issueWidth = {5, kZen2},
                              .loads = {2, kZen2},
                              .sumLatency = {5, kZen2},
                              .l1KiB = {32, kZen2},
                              .l1BytesPerCycle = {64, kZen2},
                              .l2KiB = {512, kZen2},
                              .l2BytesPerCycle = {28},
                              .l3KiB = {16384, kZen2},
                              .l3BytesPerCycle = {14},
                              .memoryBytesPerCycle = {5},
                              .coldShare = {1},
                              .forkCycles = {3400}};

constexpr Machine kZen3Row = {.name = "znver3",
                              .title = "AMD Zen 3",
                              .family = MachineFamily::X86,
                              .clockGhz = {3.5},
                              .floatMacs = {16, kZen3},
                              .byteMacs = {32, kFog},
                              .vectorPipes = {2, kZen3},
                              .issueWidth = {6, kZen3},
                              .loads = {3, kZen3},
                              .sumLatency = {4, kZen3},
                              .l1KiB = {32, kZen3},
                              .l1BytesPerCycle = {64, kZen3},
                              .l2KiB = {512, kZen3},
                              .l2BytesPerCycle = {28},
                              .l3KiB = {32768, kZen3},
                              .l3BytesPerCycle = {14},
                              .memoryBytesPerCycle = {5},
                              .coldShare = {1},
                              .forkCycles = {3500}};

constexpr Machine kZen4Row = {.name = "znver4",
                              .title = "AMD Zen 4",
                              .family = MachineFamily::X86,
                              .needs = "avx512f",
                              .without = "znver4-without-avx512",
                              .clockGhz = {3.7},
                              .floatMacs = {16, kZen4},
                              .byteMacs = {64, kZen4},
                              .vectorPipes = {2, kZen4},
                              .issueWidth = {6, kZen4},
                              .loads = {3, kZen4},
                              .sumLatency = {4, kZen4},
                              .l1KiB = {32, kZen4},
                              .l1BytesPerCycle = {64, kZen4},
                              .l2KiB = {1024, kZen4},
                              .l2BytesPerCycle = {28},
                              .l3KiB = {32768, kZen4},
                              .l3BytesPerCycle = {27, kZen4Cache},
                              .memoryBytesPerCycle = {5},
                              .coldShare = {1, kZen4Stream},
                              .forkCycles = {3700}};

/// Its caches read faster than this (46, 25 and 10 bytes per cycle); the kernels were shaped and
/// measured with these figures, and no others were found to be better.
constexpr Machine kZen5Row = {.name = "znver5",
                              .title = "AMD Zen 5",
                              .family = MachineFamily::X86,
                              .needs = "avx512f",
                              .without = "znver5-without-avx512",

                              .clockGhz = {4, kPeak},
                              .floatMacs = {32, kPeak},
                              .byteMacs = {128, kPeak},
                              .vectorPipes = {2, kPeak},
                              .issueWidth = {8},
                              .loads = {2, kPeak},
                              .sumLatency = {4},
                              .l1KiB = {48, kPeak},
                              .l1BytesPerCycle = {128},
                              .l2KiB = {1024, kPeak},
                              .l2BytesPerCycle = {32},
                              .l3KiB = {32768, kPeak},
                              .l3BytesPerCycle = {12},
                              .memoryBytesPerCycle = {4.5},
                              .coldShare = {1},
                              .forkCycles = {3125}};

/// Any other: what the kernels were shaped for, at the rates of what its features multiply with.
/// Without AVX, a product of bytes takes 0.7 of the instructions of one of floats (ResNet-8
/// emulated), but tiles of floats less than their model says: 0.6 of bytes at 12 channels (FSRCNN).
constexpr Machine kGeneric = {.name = "generic-x86",
                              .title = "x86 processor",
                              .family = MachineFamily::X86,
                              .clockGhz = {3},
                              .floatMacs = {8},
                              .byteMacs = {8},
                              .vectorPipes = {2},
                              .issueWidth = {4},
                              .loads = {2},
                              .sumLatency = {4},
                              .l1KiB = {32},
                              .l1BytesPerCycle = {128},
                              .l2KiB = {1024},
                              .l2BytesPerCycle = {32},
                              .l3KiB = {32768},
                              .l3BytesPerCycle = {12},
                              .memoryBytesPerCycle = {4.5},
                              .forkCycles = {3125}};

constexpr Machine genericWith(std::string_view feature, std::string_view name,
                              std::string_view title, double floatMacs, double byteMacs)
{
    Machine row = sameCore(kGeneric, name, title, kGeneric.l2KiB);
    row.feature = feature;
    row.floatMacs = {floatMacs};
    row.byteMacs = {byteMacs};
    return row;
}

/// Skylake-X with dot products of bytes.
constexpr Machine cascadeLake(std::string_view name, std::string_view title)
{
    Machine row = sameCore(kSkylakeX, name, title, kSkylakeX.l2KiB);
    row.byteMacs = {128, kIntel};
    return row;
}

/// In the order in which features are asked for.
constexpr Machine kRows[] = {
    kSapphireRapids,
    sameCore(kSapphireRapids, "emeraldrapids", "Intel Emerald Rapids", {2048, kIntel}),
    sameCore(kSapphireRapids, "graniterapids", "Intel Granite Rapids", {2048, kIntel}),
    kIceLake,
    sameCore(kIceLake, "icelake-client", "Intel Ice Lake, client", {512, kIntel}),
    sameCore(kIceLake, "tigerlake", "Intel Tiger Lake", {1280, kIntel}),
    kSkylakeX,
    cascadeLake("cascadelake", "Intel Cascade Lake"),
    cascadeLake("cooperlake", "Intel Cooper Lake"),
    kAlderLake,
    sameCore(kAlderLake, "raptorlake", "Intel Raptor Lake", {2048, kIntel}),
    kHaswell,
    kZen2Row,
    sameCore(kZen2Row, "znver1", "AMD Zen", {512, kZen2}),
    kZen3Row,
    kZen4Row,
    kZen5Row,
    hiding(kSkylakeX, "Intel Skylake-X without AVX-512", 16, 16, 64),
    hiding(kIceLake, "Intel Ice Lake without AVX-512", 16, 16, 64),
    hiding(kSapphireRapids, "Intel Sapphire Rapids without AVX-512", 16, 16, 64),
    hiding(kZen4Row, "AMD Zen 4 without AVX-512", 16, 32, 64),
    hiding(kZen5Row, "AMD Zen 5 without AVX-512", 16, 32, 64),
    genericWith("avx512vnni", "generic-x86-vnni", "x86 processor with AVX-512 VNNI", 32, 128),
    genericWith("avx512f", "generic-x86-avx512", "x86 processor with AVX-512", 32, 64),
    genericWith("avxvnni", "generic-x86-avxvnni", "x86 processor with AVX-VNNI", 16, 64),
    genericWith("avx2", "generic-x86-avx2", "x86 processor with AVX2", 16, 16),
    genericWith("avx", "generic-x86-avx", "x86 processor with AVX", 16, 10),
    kGeneric,
};

} // namespace

std::span<const Machine> x86Machines() { return kRows; }

} // namespace tenon::core
