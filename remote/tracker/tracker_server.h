// SPDX-License-Identifier: Apache-2.0
// TrackerServer: a tracker of TVM's protocol on a port.
#pragma once

#include "core/jobs/job.h"
#include "remote/tracker/tracker_state.h"

#include <memory>
#include <string>

namespace tenon::remote {

struct TrackerServerOptions
{
    std::string host = "127.0.0.1"; ///< numeric; the protocol has no secrets, so loopback first
    int port = 9190;                ///< 0: any free one
    std::chrono::milliseconds greeting{10000}; ///< for a peer to say that it knows the protocol
    TrackerState::Options rules;
};

class TrackerServer
{
public:
    /// Error IoFailure when the port is taken.
    static core::Result<std::unique_ptr<TrackerServer>> listen(const TrackerServerOptions& options);
    TrackerServer(const TrackerServer&) = delete;
    TrackerServer& operator=(const TrackerServer&) = delete;
    ~TrackerServer();

    int port() const { return m_port; }
    /// Serves until the job is stopped or somebody with the key ends it.
    core::Status serve(const core::JobContext& job);

private:
    struct Peer;
    TrackerServer(int listener, int port, const TrackerServerOptions& options);
    void acceptSome();
    /// Hangs up on somebody when there are too many, of this host or in all; false: on nobody.
    bool makeRoom(const std::string& host);
    /// Those who have not even said what they speak for too long.
    void hangUpOnSilentOnes();
    /// False when the peer is to be hung up on.
    bool readFrom(uint64_t id);
    /// A few of the messages that have come; false as above.
    bool answer(uint64_t id);
    bool writeTo(Peer& peer);
    void hangUp(uint64_t id);

    int m_listener;
    int m_port;
    std::chrono::milliseconds m_greeting;
    TrackerState m_state;
    std::map<uint64_t, std::unique_ptr<Peer>> m_peers;
    uint64_t m_next = 1;
};

} // namespace tenon::remote
