// SPDX-License-Identifier: Apache-2.0
// Ctrl-C asks the running job to stop, so that temporary folders and servers are cleaned up; a
// second one ends the program at once, and one that a computation does not notice soon after.
#pragma once

#include "core/jobs/job.h"

namespace tenon::cli {

/// Routes SIGINT, SIGTERM and SIGHUP to one job for as long as this lives, and makes a write
/// beyond a file size limit an error instead of a death. Only one may exist at a time.
class InterruptGuard
{
public:
    explicit InterruptGuard(core::JobContext& job);
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    ~InterruptGuard();
};

/// Lives while a model is read or compiled: nothing is half-written then and nobody waits for a
/// goodbye, so an interrupt that this work does not notice in time ends the program.
class ComputingScope
{
public:
    ComputingScope();
    ComputingScope(const ComputingScope&) = delete;
    ComputingScope& operator=(const ComputingScope&) = delete;
    ~ComputingScope();
};

} // namespace tenon::cli
