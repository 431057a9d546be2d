// SPDX-License-Identifier: Apache-2.0
// A packet's bytes, there and back.
#include "remote/micro/micro_carrier.h"

#include "remote/rpc/wire.h"

namespace tenon::remote {

core::Result<RpcPacket> MicroCarrier::exchange(const RpcPacket& request, const Patience& patience)
{
    constexpr size_t kHead = 12; // length and code
    const auto answer = m_exchange.exchange(wire::packet(request.code, request.body), patience);
    if (!answer) return answer.error();
    const auto* bytes = reinterpret_cast<const uint8_t*>(answer->data());
    if (answer->size() < kHead ||
        tenon_packet_size(bytes, TENON_RPC_MAX_PACKET) != static_cast<int64_t>(answer->size() - 8))
        return core::makeError(core::DiagnosticCode::RpcFailure,
                               "the board answered with a packet of impossible size");
    return RpcPacket{wire::integer32(bytes + 8), answer->substr(kHead)};
}

} // namespace tenon::remote
