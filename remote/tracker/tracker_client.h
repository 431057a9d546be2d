// SPDX-License-Identifier: Apache-2.0
// The client of a tracker of TVM's protocol: who is there, and a server to use.
#pragma once

#include "core/jobs/job.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace tenon::remote {

struct TrackerAddress
{
    std::string host;
    int port = 9190;

    /// "HOST" or "HOST:PORT". Error BadArgument.
    static core::Result<TrackerAddress> parse(const std::string& text);
    std::string text() const { return host + ":" + std::to_string(port); }
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

/// A server that nobody else has as long as this lives. It tells the tracker every two seconds that
/// it does; when that ends, a tracker of Tenon takes the server back.
class TrackerLease
{
public:
    struct Parts;
    explicit TrackerLease(std::unique_ptr<Parts> parts);
    TrackerLease(const TrackerLease&) = delete;
    TrackerLease& operator=(const TrackerLease&) = delete;
    ~TrackerLease();

    const RpcAddress& server() const;
    /// Larger than that of every lease before; 0 when the tracker counts none.
    uint64_t number() const;

private:
    std::unique_ptr<Parts> m_parts;
};

/// Waits in the tracker's queue for a free server, also across a restart of the tracker; giving up
/// leaves the queue. Errors: UnknownName when the tracker knows no such server, QueueTimedOut,
/// Cancelled, BoardUnreachable, ConnectTimedOut, RpcFailure.
core::Result<std::unique_ptr<TrackerLease>> leaseServer(const TrackerAddress& tracker,
                                                        const ServerRequest& request,
                                                        std::chrono::milliseconds timeout,
                                                        const core::JobContext& job);

/// The tracker's own JSON: queue_info, server_info and, of Tenon's, leases.
core::Result<std::string> trackerSummary(const TrackerAddress& tracker,
                                         std::chrono::milliseconds timeout,
                                         const core::JobContext& job);

} // namespace tenon::remote
