// SPDX-License-Identifier: Apache-2.0
// A run of this very program in a child process, so that a crash or hang is the child's alone.
#pragma once

#include "core/base/result.h"
#include "core/jobs/job.h"

#include <chrono>
#include <string>
#include <vector>

namespace tenon::cli {

struct ChildOutcome
{
    int exitCode = -1;
    int signal = 0; ///< that ended it, 0 when it ended by itself
    bool hasTimedOut = false;
    std::string output; ///< of stdout
    std::string errors; ///< the end of stderr
};

/// Runs this executable with `arguments`; it and all it started are killed after `timeout` or when
/// `job` is stopped (error Cancelled).
core::Result<ChildOutcome> runSelf(const std::vector<std::string>& arguments,
                                   std::chrono::seconds timeout, const core::JobContext& job);

} // namespace tenon::cli
