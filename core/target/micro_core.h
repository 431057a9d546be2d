// SPDX-License-Identifier: Apache-2.0
// MicroCore: a microcontroller's core as GCC for bare Arm and QEMU know it, and the memory of the
// board that stands in for it.
#pragma once

#include "core/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

struct MicroCore
{
    std::string_view cpu;          ///< of -mcpu
    std::string_view floatOptions; ///< of GCC, separated by blanks; empty: no unit
    std::string_view board = {};   ///< QEMU's machine that has it; empty: none
    uint32_t flashAddress = 0;     ///< of code and constants
    uint32_t ramAddress = 0x20000000;
    int64_t flashBytes = int64_t{4} << 20;
    int64_t ramBytes = int64_t{4} << 20;
    int64_t clockHz = 25000000;        ///< of the emulated board's SysTick
    uint32_t uartAddress = 0x40004000; ///< of its first UART
};

std::span<const MicroCore> allMicroCores();
/// The core that the target names, features behind a `+` left out; null when it is none of them.
const MicroCore* microCoreOf(const Target& target);
/// By QEMU's name of the board, or null.
const MicroCore* microCoreOnBoard(std::string_view board);

/// GCC's options: the core's own, with what the target says in their place. Errors: BadTarget for a
/// float ABI that the core has no unit for.
Result<std::vector<std::string>> microCompilerOptions(const MicroCore& core, const Target& target);

} // namespace tenon::core
