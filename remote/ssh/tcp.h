// SPDX-License-Identifier: Apache-2.0
// A TCP connection that obeys a deadline and a stop request, name resolution included.
#pragma once

#include "core/jobs/job.h"

#include <chrono>
#include <string>

namespace tenon::remote {

/// A connected socket without Nagle's delay, which notices a silent peer; the caller owns it.
/// Errors: BoardUnreachable (unknown name, refused, no route), ConnectTimedOut, Cancelled.
core::Result<int> connectTcp(const std::string& host, int port, std::chrono::milliseconds timeout,
                             const core::JobContext& job);

} // namespace tenon::remote
