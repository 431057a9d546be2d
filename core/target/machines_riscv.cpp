// SPDX-License-Identifier: Apache-2.0
// RISC-V processors; those that LLVM does not name are taken by `-machine=NAME`.
#include "core/target/machine_rows.h"

namespace tenon::core {
namespace {

constexpr std::string_view kU74 = "SiFive U74-MC Core Complex Manual 21G1, chapter 3";
constexpr std::string_view kLlvm = "LLVM 19, scheduling model (llvm-mca)";
constexpr std::string_view kJh7110 = "StarFive JH7110 datasheet";
constexpr std::string_view kC906 = "T-Head, XuanTie C906 user manual";
constexpr std::string_view kC910 = "Chen et al., Xuantie-910, ISCA 2020";
constexpr std::string_view kTh1520 = "T-Head TH1520 datasheet";
constexpr std::string_view kX60 = "book.j4orz.ai: cpufp on a Milk-V Jupiter (SpacemiT K1, 1.6 GHz)";

constexpr Machine kRows[] = {
    {.name = "sifive-u74",
     .title = "SiFive U74",
     .family = MachineFamily::RiscV,
     .kin = "sifive-u54 sifive-7-series sifive-p450 sifive-p670 rocket-rv64",
     .clockGhz = {1.5, kJh7110},
     .floatMacs = {1, kLlvm},
     .byteMacs = {0.8},
     .vectorPipes = {1, kLlvm},
     .issueWidth = {2, kU74},
     .loads = {1, kLlvm},
     .sumLatency = {5, kLlvm},
     .l1KiB = {32, kU74},
     .l1BytesPerCycle = {8, kU74},
     .l2KiB = {2048, kJh7110},
     .l2BytesPerCycle = {5},
     .memoryBytesPerCycle = {1.6},
     .forkCycles = {3000}},
    {.name = "spacemit-x60",
     .title = "SpacemiT X60",
     .family = MachineFamily::RiscV,
     .kin = "sifive-x280 sifive-p670",
     .feature = "v",
     .clockGhz = {1.6, kX60},
     .floatMacs = {8, kX60},
     .byteMacs = {16},
     .vectorPipes = {2, kX60},
     .issueWidth = {2, kX60},
     .loads = {1},
     .sumLatency = {5},
     .l1KiB = {32},
     .l1BytesPerCycle = {16},
     .l2KiB = {512},
     .l2BytesPerCycle = {10},
     .memoryBytesPerCycle = {3},
     .forkCycles = {3200}},
    {.name = "thead-c906",
     .title = "T-Head C906",
     .family = MachineFamily::RiscV,
     .clockGhz = {1},
     .floatMacs = {1},
     .byteMacs = {0.8},
     .vectorPipes = {1, kC906},
     .issueWidth = {1, kC906},
     .loads = {1, kC906},
     .sumLatency = {5},
     .l1KiB = {32, kC906},
     .l1BytesPerCycle = {8},
     .memoryBytesPerCycle = {2},
     .forkCycles = {3000}},
    {.name = "thead-c910",
     .title = "T-Head C910",
     .family = MachineFamily::RiscV,
     .clockGhz = {1.85, kTh1520},
     .floatMacs = {2, kC910},
     .byteMacs = {1.5},
     .vectorPipes = {2, kC910},
     .issueWidth = {3, kC910},
     .loads = {1, kC910},
     .sumLatency = {5},
     .l1KiB = {64, kTh1520},
     .l1BytesPerCycle = {16, kC910},
     .l2KiB = {1024, kTh1520},
     .l2BytesPerCycle = {8},
     .memoryBytesPerCycle = {3},
     .forkCycles = {3700}},
    // Of 128 bits, the least that vectors have: one product and one load of them per cycle.
    {.name = "generic-riscv-v",
     .title = "RISC-V processor with vectors",
     .family = MachineFamily::RiscV,
     .feature = "v",
     .clockGhz = {1.6},
     .floatMacs = {4},
     .byteMacs = {8},
     .vectorPipes = {1},
     .issueWidth = {2},
     .loads = {1},
     .sumLatency = {5},
     .l1KiB = {32},
     .l1BytesPerCycle = {16},
     .l2KiB = {1024},
     .l2BytesPerCycle = {10},
     .memoryBytesPerCycle = {3},
     .forkCycles = {3000}},
    {.name = "generic-riscv",
     .title = "RISC-V processor",
     .family = MachineFamily::RiscV,
     .clockGhz = {1.5},
     .floatMacs = {1},
     .byteMacs = {0.8},
     .vectorPipes = {1},
     .issueWidth = {2},
     .loads = {1},
     .sumLatency = {5},
     .l1KiB = {32},
     .l1BytesPerCycle = {8},
     .l2KiB = {1024},
     .l2BytesPerCycle = {5},
     .memoryBytesPerCycle = {2},
     .forkCycles = {3000}},
};

} // namespace

std::span<const Machine> riscvMachines() { return kRows; }

} // namespace tenon::core
