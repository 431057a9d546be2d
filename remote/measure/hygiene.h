// SPDX-License-Identifier: Apache-2.0
// The state of this computer around a measurement: what makes a number doubtful.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::remote {

/// Empty text and -1 where the system does not tell.
struct Hygiene
{
    std::string cpuModel;
    std::string governor;             ///< frequency governor of CPU 0
    double loadAverage = -1;          ///< of the last minute, before measuring
    double clockMhz = -1;             ///< current clock of CPU 0
    bool isPinned = false;            ///< each thread was tied to one CPU
    int64_t involuntarySwitches = -1; ///< of the measured process while it measured
    int64_t majorFaults = -1;
    std::vector<std::string> warnings; ///< plain sentences
};

/// What can be read before measuring.
Hygiene readHygiene();

} // namespace tenon::remote
