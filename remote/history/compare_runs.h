// SPDX-License-Identifier: Apache-2.0
// What the difference between two measurements is worth: a ratio, or why there is none.
#pragma once

#include "remote/history/run_history.h"

namespace tenon::remote {

struct RunComparison
{
    double ratio = 0;     ///< of the medians, now to before; 0: no verdict
    std::string noReason; ///< why there is no verdict: "other load: 0.2, now 5.1"
    /// Beside a verdict: "at 25 MHz, now 50 MHz". What a microcontroller was set to explains its
    /// times, and does not keep them from being compared.
    std::string settings;
};

bool isEmulated(const RunRecord& record);
/// True of a record whose "milliseconds" are millions of instructions, which the emulator of a
/// microcontroller counted: they are exact.
bool countsInstructions(const RunRecord& record);

/// A verdict only where both were measured under the same conditions, as far as both tell them
/// (machine, target, threads, clock, governor, temperature, load, interruptions, pinning), on a
/// real processor, with enough samples, of different builds, and where the intervals do not
/// overlap.
RunComparison compareRuns(const RunRecord& now, const RunRecord& before);

} // namespace tenon::remote
