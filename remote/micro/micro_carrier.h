// SPDX-License-Identifier: Apache-2.0
// Packets of TVM's session protocol inside messages of microTVM's session.
#pragma once

#include "remote/micro/micro_exchange.h"
#include "remote/rpc/packet_carrier.h"

namespace tenon::remote {

/// Over an exchange that the caller keeps, with a session that has begun.
class MicroCarrier : public PacketCarrier
{
public:
    explicit MicroCarrier(MicroExchange& exchange)
        : m_exchange(exchange)
    {
    }
    core::Result<RpcPacket> exchange(const RpcPacket& request, const Patience& patience) override;
    void hangUp() override { m_exchange.hangUp(); }
    bool isBroken() const override { return m_exchange.isSessionLost(); }
    size_t mostBytes() const override { return m_mostBytes; }
    /// What the board says it takes.
    void setMostBytes(size_t bytes) { m_mostBytes = bytes; }

private:
    MicroExchange& m_exchange;
    size_t m_mostBytes = 256;
};

} // namespace tenon::remote
