// SPDX-License-Identifier: Apache-2.0
// What makes a measurement doubtful.
#include "remote/measure/hygiene.h"

#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenon::remote {

namespace {

constexpr double kHotC = 75;

} // namespace

Hygiene hygieneOf(const BoardFacts& facts)
{
    Hygiene state{.cpuModel = facts.cpuText,
                  .governor = facts.governor,
                  .loadAverage = facts.load,
                  .clockMhz = facts.clockMhz,
                  .temperatureC = facts.temperatureC,
                  .cores = facts.cores};
    if (facts.load > 0.5 * std::max(1u, facts.cores))
        state.warnings.push_back("other work kept the computer busy (load " +
                                 core::fixed(facts.load, 1) + ")");
    if (!facts.governor.empty() && facts.governor != "performance")
        state.warnings.push_back("the frequency governor is " + core::quoted(facts.governor) +
                                 "; clocks may change while measuring");
    if (facts.temperatureC >= kHotC)
        state.warnings.push_back("the processor is hot (" + core::fixed(facts.temperatureC, 0) +
                                 " degrees C) and may slow itself down");
    return state;
}

std::string hygieneJson(const Hygiene& state)
{
    return nlohmann::ordered_json{{"cpu", state.cpuModel},
                                  {"governor", state.governor},
                                  {"load", state.loadAverage},
                                  {"clock_mhz", state.clockMhz},
                                  {"temperature_c", state.temperatureC},
                                  {"cores", state.cores},
                                  {"pinned", state.isPinned},
                                  {"involuntary_switches", state.involuntarySwitches},
                                  {"major_faults", state.majorFaults},
                                  {"settings", state.settings},
                                  {"warnings", state.warnings}}
        .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tenon::remote
