// SPDX-License-Identifier: Apache-2.0
// One comparison of a device with a reference, as command line and window ask for it.
#pragma once

#include "app/runs/compared_model.h"
#include "app/runs/program_runs.h"

namespace tenon::runs {

struct ComparisonQuestion
{
    ComparedData data;
    std::string reference = "opt0"; ///< see `tenon compare --reference`
    compiler::CompileOptions options;
    ErrorLimits limits;
    int64_t pieceBytes = 0;
    bool isolates = true;
    bool measuresNoise = false; ///< what rounding alone moves
    RunPlace place;
    compiler::TensorKeeper keep = {}; ///< takes the values of every tensor; empty: nobody
};

/// Errors: as of compiler::compareTensors(), BadArgument for a reference that is none.
Result<Comparison> runComparison(const ComparisonQuestion& question, const ComparedModel& model,
                                 JobContext& job);

} // namespace tenon::runs
