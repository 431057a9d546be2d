// SPDX-License-Identifier: Apache-2.0
// The state of the measured machine: what makes a number doubtful.
#pragma once

#include "remote/board/board_facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::remote {

/// Empty text and -1 where the system does not tell.
struct Hygiene
{
    std::string cpuModel;
    std::string governor;    ///< frequency governor of CPU 0
    double loadAverage = -1; ///< of the last minute, before measuring
    double clockMhz = -1;    ///< current clock of CPU 0
    double temperatureC = -1;
    unsigned cores = 0;               ///< what the load is to be held against; 0: not told
    bool isPinned = false;            ///< each thread was tied to one CPU
    int64_t involuntarySwitches = -1; ///< of the measured process while it measured
    int64_t majorFaults = -1;
    std::string settings;              ///< of a microcontroller: clock, caches, wait states
    std::vector<std::string> warnings; ///< plain sentences
};

/// What the machine says before measuring.
Hygiene hygieneOf(const BoardFacts& facts);
/// One JSON object: cpu, governor, load, clock_mhz, temperature_c, pinned, ...
std::string hygieneJson(const Hygiene& state);

} // namespace tenon::remote
