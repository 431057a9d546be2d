// SPDX-License-Identifier: Apache-2.0
// How packets of TVM's session protocol travel: over a socket, or framed on a serial line.
#pragma once

#include "remote/rpc/link.h"

#include <cstdint>
#include <string>

namespace tenon::remote {

/// A packet without its length: code and body.
struct RpcPacket
{
    int32_t code = 0;
    std::string body;
};

class PacketCarrier
{
public:
    PacketCarrier() = default;
    PacketCarrier(const PacketCarrier&) = delete;
    PacketCarrier& operator=(const PacketCarrier&) = delete;
    virtual ~PacketCarrier() = default;

    /// Sends a request and waits for its answer; both share the deadline.
    virtual core::Result<RpcPacket> exchange(const RpcPacket& request,
                                             const Patience& patience) = 0;
    /// Says goodbye if that can be done at once.
    virtual void hangUp() = 0;
    /// After a failure of the conversation, for good.
    virtual bool isBroken() const = 0;
    /// Bytes of the largest packet; 0: any.
    virtual size_t mostBytes() const { return 0; }
};

} // namespace tenon::remote
