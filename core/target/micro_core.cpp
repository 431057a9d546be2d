// SPDX-License-Identifier: Apache-2.0
// Cortex-M cores and Arm's MPS2 and MPS3 boards, RISC-V cores and the board `virt`, as QEMU
// emulates them.
#include "core/target/micro_core.h"

#include "core/base/text.h"
#include "core/target/c_options.h"

#include <algorithm>

namespace tenon::core {
namespace {

constexpr MicroFamily kArm{.tools = "arm-none-eabi-",
                           .toolPackages = "gcc-arm-none-eabi and libnewlib-arm-none-eabi",
                           .gccOptions = "-mthumb",
                           .emulator = "qemu-system-arm",
                           .emulatorPackage = "qemu-system-arm",
                           .emulatorOptions = "",
                           .folder = "mps2"};
/// Debian's picolibc has its own specs; its library of rv32im serves cores with short instructions.
constexpr MicroFamily kRiscV{.tools = "riscv64-unknown-elf-",
                             .toolPackages =
                                 "gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf",
                             .gccOptions = "--specs=picolibc.specs",
                             .emulator = "qemu-system-riscv32",
                             .emulatorPackage = "qemu-system-misc",
                             .emulatorOptions = "-bios none -cpu rv32,a=off,f=off,d=off",
                             .folder = "riscv"};

/// QEMU's `virt` has one memory; a part of it stands for flash. Its counter of cycles is one of
/// nanoseconds where instructions are counted.
constexpr MicroCore riscv(std::string_view cpu, std::string_view title, std::string_view board)
{
    return {.family = &kRiscV,
            .cpu = cpu,
            .title = title,
            .floatOptions = "",
            .board = board,
            .flashAddress = 0x80000000,
            .ramAddress = 0x80400000,
            .clockHz = 1000000000,
            .uartAddress = 0x10000000,
            .uartHz = 399193};
}

constexpr MicroCore kCores[] = {
    {.family = &kArm, .cpu = "cortex-m0", .title = "Cortex-M0", .floatOptions = ""},
    {.family = &kArm, .cpu = "cortex-m0plus", .title = "Cortex-M0+", .floatOptions = ""},
    {.family = &kArm,
     .cpu = "cortex-m3",
     .title = "Cortex-M3",
     .floatOptions = "",
     .board = "mps2-an385"},
    {.family = &kArm,
     .cpu = "cortex-m4",
     .title = "Cortex-M4",
     .floatOptions = "-mfloat-abi=hard -mfpu=fpv4-sp-d16",
     .board = "mps2-an386"},
    {.family = &kArm,
     .cpu = "cortex-m7",
     .title = "Cortex-M7",
     .floatOptions = "-mfloat-abi=hard -mfpu=fpv5-d16",
     .board = "mps2-an500"},
    {.family = &kArm,
     .cpu = "cortex-m33",
     .title = "Cortex-M33",
     .floatOptions = "-mfloat-abi=hard -mfpu=fpv5-sp-d16",
     .board = "mps2-an505",
     .flashAddress = 0x10000000,
     .ramAddress = 0x38000000,
     .clockHz = 20000000,
     .uartAddress = 0x50200000},
    {.family = &kArm,
     .cpu = "cortex-m55",
     .title = "Cortex-M55",
     .floatOptions = "-mfloat-abi=hard",
     .board = "mps3-an547",
     .flashBytes = 0x80000,
     .ramBytes = 0x80000,
     .clockHz = 32000000,
     .uartAddress = 0x59303000},
    riscv("rv32imc", "RV32IMC", "virt"),
    riscv("rv32imac", "RV32IMAC", {}),
};

void addWords(std::string_view words, std::vector<std::string>& out)
{
    for (std::string& word : split(std::string(words), ' '))
        if (!word.empty()) out.push_back(std::move(word));
}

} // namespace

std::span<const MicroCore> allMicroCores() { return kCores; }

const MicroCore* microCoreOf(const Target& target)
{
    if (target.kind != "c") return nullptr;
    const std::string cpu = target.mcpu.substr(0, target.mcpu.find('+'));
    for (const MicroCore& core : kCores)
        if (core.cpu == cpu) return &core;
    return nullptr;
}

const MicroCore* microCoreOnBoard(std::string_view board)
{
    for (const MicroCore& core : kCores)
        if (!board.empty() && core.board == board) return &core;
    return nullptr;
}

// GCC knows best what goes together, but calls a core without a unit a matter of its library.
Result<std::vector<std::string>> microCompilerOptions(const MicroCore& core, const Target& target)
{
    const std::string abi = target.stringOption("mfloat-abi");
    if (core.floatOptions.empty() && !abi.empty() && abi != "soft")
        return makeError(DiagnosticCode::BadTarget,
                         std::string(core.cpu) + " has no floating-point unit; -mfloat-abi=" + abi +
                             " needs one, leave it out or write soft",
                         {.detail = "mfloat-abi"});
    const std::vector<std::string> given = cCompilerOptions(target);
    std::vector<std::string> out{given.front()}; // the processor
    addWords(core.family->gccOptions, out);
    const auto isGiven = [&](const std::string& option) {
        const std::string name = option.substr(0, option.find('=') + 1);
        return std::any_of(given.begin(), given.end(),
                           [&](const std::string& each) { return each.starts_with(name); });
    };
    for (const std::string& option : split(std::string(core.floatOptions), ' '))
        if (!option.empty() && !isGiven(option)) out.push_back(option);
    out.insert(out.end(), given.begin() + 1, given.end());
    return out;
}

std::string microTool(const MicroCore& core, std::string_view name)
{
    return std::string(core.family->tools) + std::string(name);
}

std::vector<std::string> microEmulator(const MicroCore& core, int shift)
{
    std::vector<std::string> out{std::string(core.family->emulator), "-M", std::string(core.board)};
    addWords(core.family->emulatorOptions, out);
    for (const char* word : {"-display", "none", "-monitor", "none"}) out.emplace_back(word);
    out.insert(out.end(), {"-icount", "shift=" + std::to_string(shift) + ",sleep=off",
                           "-semihosting-config", "enable=on,target=native"});
    return out;
}

} // namespace tenon::core
