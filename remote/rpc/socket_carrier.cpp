// SPDX-License-Identifier: Apache-2.0
// Packets over a connected socket.
#include "remote/rpc/socket_carrier.h"

#include "core/base/board_code.h"
#include "remote/rpc/wire.h"

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

core::Diagnostic unexpected(std::string_view what)
{
    return makeError(DiagnosticCode::RpcFailure,
                     "the server answered " + std::string(what) + " unexpectedly");
}

} // namespace

Status SocketCarrier::shakeHands(const std::string& key, const Patience& patience)
{
    constexpr int32_t kMostKey = 512; // 256 of its own, and what stands before it
    m_link.begin(patience);
    const std::string hello = wire::handshake(key);
    if (Status sent = m_link.send(std::as_bytes(std::span(hello))); !sent) return sent;
    uint8_t number[4];
    const auto bytes = std::as_writable_bytes(std::span(number));
    if (Status got = m_link.receive(bytes); !got) return got;
    switch (wire::integer32(number)) {
    case kTenonRpcMagic: break;
    case kTenonRpcMismatch:
        return makeError(BoardCode::AuthFailure,
                         "the RPC server does not know the key it was given; another client may "
                         "have been faster, or the board has another key");
    case kTenonRpcDuplicate:
        return makeError(BoardCode::AuthFailure, "the RPC server is serving another client");
    default:
        return makeError(DiagnosticCode::RpcFailure,
                         "what answers there does not greet as an RPC server does; is the port "
                         "right?");
    }
    if (Status got = m_link.receive(bytes); !got) return got;
    const int32_t size = wire::integer32(number);
    if (size < 0 || size > kMostKey) return unexpected("with a key of impossible size");
    std::string name(static_cast<size_t>(size), 0);
    return m_link.receive(std::as_writable_bytes(std::span(name)));
}

void SocketCarrier::hangUp()
{
    m_link.begin({.timeout = std::chrono::milliseconds(200)});
    const std::string goodbye = wire::packet(kTenonRpcShutdown, "");
    // The server also ends when the link closes, so a lost goodbye does no harm.
    static_cast<void>(m_link.send(std::as_bytes(std::span(goodbye))));
}

Result<RpcPacket> SocketCarrier::exchange(const RpcPacket& request, const Patience& patience)
{
    m_link.begin(patience);
    const std::string bytes = wire::packet(request.code, request.body);
    const Status sent = m_link.send(std::as_bytes(std::span(bytes)));
    if (!sent) return sent.error();
    Result<RpcPacket> answer = receive();
    while (answer && answer->code == kTenonRpcHeartbeat) answer = receive();
    return answer;
}

Result<RpcPacket> SocketCarrier::receive()
{
    uint8_t header[8];
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(header))); !got)
        return got.error();
    const int64_t size = tenon_packet_size(header, TENON_RPC_MAX_PACKET);
    if (size < 0) return unexpected("with a packet of impossible size");
    RpcPacket answer;
    uint8_t code[4];
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(code))); !got)
        return got.error();
    answer.code = wire::integer32(code);
    if (Status got = m_link.receive(answer.body, static_cast<size_t>(size) - sizeof code); !got)
        return got.error();
    return answer;
}

} // namespace tenon::remote
