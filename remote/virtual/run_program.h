// SPDX-License-Identifier: Apache-2.0
// Runs a program of this computer to its end; a stop request ends it and all it started.
#pragma once

#include "core/jobs/job.h"

#include <chrono>
#include <string>
#include <vector>

namespace tenon::remote {

/// `command` is looked for on PATH; its stdout is dropped. Error IoFailure with the last line of
/// its stderr, Cancelled, TimedOut.
core::Status runProgram(const std::vector<std::string>& command, const core::JobContext& job,
                        std::chrono::milliseconds timeout = std::chrono::hours(24));

/// Full path of a program on PATH or in /usr/sbin and /sbin; empty when there is none.
std::string findProgram(const std::string& name);

} // namespace tenon::remote
