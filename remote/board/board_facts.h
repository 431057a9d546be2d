// SPDX-License-Identifier: Apache-2.0
// BoardFacts: what a probe found on a board, and the target string that follows from it.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

/// Empty text, 0 and -1 where the board does not tell.
struct BoardFacts
{
    std::string machine;               ///< "aarch64", as uname -m
    std::string kernel;                ///< "Linux 6.1.21-v8+"
    std::string model;                 ///< "Raspberry Pi 4 Model B Rev 1.1"
    std::string cpu;                   ///< LLVM's name: "cortex-a72"
    std::string cpuText;               ///< for people: "Cortex-A72"
    std::vector<std::string> features; ///< HWCAP by the kernel's names, sorted
    std::string libc;                  ///< "glibc 2.36", "musl", ...
    unsigned cores = 0;                ///< of the machine, as it says
    unsigned usable = 0;               ///< that its system lets programs of this login use
    int64_t ramBytes = 0;
    int64_t freeRamBytes = -1;
    int64_t freeDiskBytes = -1; ///< where uploads go
    std::string governor;
    double clockMhz = -1;
    double temperatureC = -1;
    double load = -1;
    std::string sandbox;    ///< what its server holds sessions to: "seccomp and Landlock 7", "none"
    std::string target;     ///< of a board without an operating system; else it follows from facts
    int64_t flashBytes = 0; ///< then: for code and weights; 0: not told
    bool isBare = false;    ///< without an operating system
    std::string settings;   ///< then: "25 MHz, instruction cache off", as its server says
    std::string answer;     ///< of a serial board whose server does not answer: why not
    bool isHardFloat = true; ///< 32-bit Arm: user programs pass floats in registers

    bool hasFeature(std::string_view name) const;
    /// To compile for: as many as may be used, of a machine that may say anything.
    unsigned usableCores() const;
    bool hasNoSystem() const { return isBare || flashBytes > 0; }
};

/// Reads what the probe script printed: sections of `== name` and text. Unknown sections are
/// skipped, so that boards may say more. Error BoardFailure when it does not even name the machine.
core::Result<BoardFacts> parseProbe(std::string_view output);

/// "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4". Error UnsupportedTarget for
/// machines without a code generator.
core::Result<std::string> proposedTarget(const BoardFacts& facts);

/// "Raspberry Pi 4 Model B, Cortex-A72, 4 cores, 3.70 GiB".
std::string summaryLine(const BoardFacts& facts);

enum class Verdict : uint8_t
{
    Good,
    Doubtful, ///< works, but results may mislead
    Bad       ///< deploying will fail
};

/// One line of a checklist, for people.
struct Check
{
    Verdict verdict = Verdict::Good;
    std::string subject; ///< "processor"
    std::string outcome; ///< "Cortex-A72 with asimd, crc32"
    std::string advice;  ///< what to do, when there is something to do
};

std::vector<Check> probeChecklist(const BoardFacts& facts);

} // namespace tenon::remote
