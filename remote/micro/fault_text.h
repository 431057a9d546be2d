// SPDX-License-Identifier: Apache-2.0
// What a core says when it stops (fault.c of runtime/micro/mps2 and of riscv), in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::remote {

/// The core's fault registers and where it was.
struct CoreFault
{
    uint32_t cfsr = 0;
    uint32_t hfsr = 0;
    uint32_t address = 0; ///< that was accessed, where the core knows
    uint32_t pc = 0;      ///< 0: could not be saved
    uint32_t lr = 0;
    uint32_t sp = 0;
    std::optional<uint32_t> mcause; ///< of RISC-V, which has this one in place of CFSR and HFSR
};

/// Reads a line of the board's log; nothing when it tells of no fault.
std::optional<CoreFault> parseFault(std::string_view line);

/// "the board stopped with a usage fault: an instruction that the core does not have, at 0x1234
/// ...; what to do". `place` is the function of the pc, where it is known.
std::string faultText(const CoreFault& fault, const std::string& place);

} // namespace tenon::remote
