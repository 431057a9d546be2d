// SPDX-License-Identifier: Apache-2.0
// Two runs of one model, call by call.
#pragma once

#include "remote/history/run_history.h"

namespace tenon::remote {

/// What a call took in both; -1 in the run that does not have it.
struct CallChange
{
    std::string title;
    double beforeMs = -1;
    double nowMs = -1;
};

/// In the order of `now`; calls that only the other run has stand where they were. Calls of one
/// title belong together in their order. Empty where one of the runs has no times of calls.
std::vector<CallChange> callChanges(const RunRecord& now, const RunRecord& before);

} // namespace tenon::remote
