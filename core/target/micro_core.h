// SPDX-License-Identifier: Apache-2.0
// MicroCore: a microcontroller's core as GCC for bare machines and QEMU know it, and the memory of
// the board that stands in for it.
#pragma once

#include "core/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// What cores of one architecture share.
struct MicroFamily
{
    std::string_view tools;        ///< of GCC: "arm-none-eabi-" stands before gcc, nm, size
    std::string_view toolPackages; ///< of Debian, that have them and a C library
    std::string_view gccOptions;   ///< of every core, separated by blanks
    std::string_view emulator;     ///< "qemu-system-arm"
    std::string_view emulatorPackage;
    std::string_view emulatorOptions; ///< of every board, separated by blanks
    std::string_view folder;          ///< below runtime/micro: start-up code and linker script
};

struct MicroCore
{
    const MicroFamily* family = nullptr;
    std::string_view cpu;          ///< of -mcpu
    std::string_view title;        ///< "Cortex-M4"
    std::string_view floatOptions; ///< of GCC, separated by blanks; empty: no unit
    std::string_view board = {};   ///< QEMU's machine that has it; empty: none
    uint32_t flashAddress = 0;     ///< of code and constants
    uint32_t ramAddress = 0x20000000;
    int64_t flashBytes = int64_t{4} << 20;
    int64_t ramBytes = int64_t{4} << 20;
    int64_t clockHz = 25000000;        ///< of the counter that the emulated board tells time by
    uint32_t uartAddress = 0x40004000; ///< of its first UART
    int64_t uartHz = 0;                ///< what that divides for its speed; 0: clockHz
};

/// GCC's program of that name for the core: "arm-none-eabi-nm".
std::string microTool(const MicroCore& core, std::string_view name);
/// What starts QEMU with the core's board, its instructions counted, each 2^`shift` ns long; an
/// image's path belongs behind.
std::vector<std::string> microEmulator(const MicroCore& core, int shift);

std::span<const MicroCore> allMicroCores();
/// The core that the target names, features behind a `+` left out; null when it is none of them.
const MicroCore* microCoreOf(const Target& target);
/// By QEMU's name of the board, or null.
const MicroCore* microCoreOnBoard(std::string_view board);

/// GCC's options: the core's own, with what the target says in their place. Errors: BadTarget for a
/// float ABI that the core has no unit for.
Result<std::vector<std::string>> microCompilerOptions(const MicroCore& core, const Target& target);

} // namespace tenon::core
