// SPDX-License-Identifier: Apache-2.0
// The client of a tracker of TVM's protocol: who is there, and a server to use.
#pragma once

#include "core/jobs/job.h"

#include <chrono>
#include <string>
#include <vector>

namespace tenon::remote {

struct TrackerAddress
{
    std::string host;
    int port = 9190;
};

/// A server and the key it expects.
struct RpcAddress
{
    std::string host;
    int port = 0;
    std::string key;
};

struct ServerRequest
{
    std::string key; ///< what kind of board
    std::string user = "tenon";
    int priority = 1; ///< larger goes first
};

/// Waits in the tracker's queue for a free server; giving up leaves the queue. Errors:
/// QueueTimedOut, Cancelled, BoardUnreachable, LinkLost, RpcFailure.
core::Result<RpcAddress> requestServer(const TrackerAddress& tracker, const ServerRequest& request,
                                       std::chrono::milliseconds timeout,
                                       const core::JobContext& job);

/// The tracker's own JSON: queue_info and server_info.
core::Result<std::string> trackerSummary(const TrackerAddress& tracker,
                                         std::chrono::milliseconds timeout,
                                         const core::JobContext& job);

} // namespace tenon::remote
