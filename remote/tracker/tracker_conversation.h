// SPDX-License-Identifier: Apache-2.0
// A greeted connection to a tracker: messages of JSON both ways.
#pragma once

#include "remote/rpc/link.h"
#include "remote/tracker/tracker_client.h"

#include <nlohmann/json.hpp>

namespace tenon::remote {

class TrackerConversation
{
public:
    /// Errors: BoardUnreachable, ConnectTimedOut, Cancelled, RpcFailure when it is no tracker.
    static core::Result<std::unique_ptr<TrackerConversation>> open(const TrackerAddress& address,
                                                                   const Patience& patience);
    core::Status say(const nlohmann::json& message);
    /// The next message. Errors: TimedOut, Cancelled, RpcFailure.
    core::Result<nlohmann::json> hear();
    core::Result<nlohmann::json> ask(const nlohmann::json& message);
    /// True when there is something to hear, or the end of it, within `limit`; the link stays whole
    /// when there is not.
    bool hasNews(std::chrono::milliseconds limit) const;
    /// The deadline of everything until the next call.
    void begin(const Patience& patience) { m_link.begin(patience); }

private:
    explicit TrackerConversation(int fd)
        : m_fd(fd)
        , m_link(fd)
    {
    }
    core::Result<int32_t> number();

    int m_fd; ///< the link's
    Link m_link;
};

/// What the tracker knows, as it said it. Error RpcFailure.
core::Result<nlohmann::json> askSummary(TrackerConversation& conversation);

} // namespace tenon::remote
