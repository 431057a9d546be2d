// SPDX-License-Identifier: Apache-2.0
// The state of this computer around a measurement.
#include "remote/measure/hygiene.h"

#include "core/base/text.h"

#include <cstdlib>
#include <fstream>
#include <thread>

namespace tenon::remote {

namespace {

std::string firstLine(const std::string& path)
{
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// "value" of the first line "name : value" of /proc/cpuinfo.
std::string cpuField(std::string_view name)
{
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        if (core::trimmed(std::string_view(line).substr(0, colon)) == name)
            return std::string(core::trimmed(std::string_view(line).substr(colon + 1)));
    }
    return {};
}

} // namespace

Hygiene readHygiene()
{
    Hygiene state;
    state.cpuModel = cpuField("model name");
    state.governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    const std::string load = firstLine("/proc/loadavg");
    const std::string clock = cpuField("cpu MHz");
    if (!load.empty()) state.loadAverage = std::strtod(load.c_str(), nullptr);
    if (!clock.empty()) state.clockMhz = std::strtod(clock.c_str(), nullptr);
    const unsigned cpus = std::thread::hardware_concurrency();
    if (state.loadAverage > 0.5 * cpus)
        state.warnings.push_back("other work kept the computer busy (load " +
                                 core::fixed(state.loadAverage, 1) + ")");
    if (!state.governor.empty() && state.governor != "performance")
        state.warnings.push_back("the frequency governor is " + core::quoted(state.governor) +
                                 "; clocks may change while measuring");
    return state;
}

} // namespace tenon::remote
