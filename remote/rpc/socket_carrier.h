// SPDX-License-Identifier: Apache-2.0
// Packets over a connected socket, as TVM's servers of boards with an operating system take them.
#pragma once

#include "remote/rpc/packet_carrier.h"

namespace tenon::remote {

class SocketCarrier : public PacketCarrier
{
public:
    explicit SocketCarrier(int fd)
        : m_link(fd)
    {
    }
    /// What a client of a listening server says first. Error AuthFailure when the server has
    /// another key.
    core::Status shakeHands(const std::string& key, const Patience& patience);

    core::Result<RpcPacket> exchange(const RpcPacket& request, const Patience& patience) override;
    void hangUp() override;
    bool isBroken() const override { return m_link.isBroken(); }

private:
    core::Result<RpcPacket> receive();

    Link m_link;
};

} // namespace tenon::remote
