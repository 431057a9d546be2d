// SPDX-License-Identifier: Apache-2.0
// The client of a TVM-compatible RPC server.
#include "remote/rpc/rpc_session.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/rpc/wire.h"

#include <cstring>

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

/// A packet without its length: code and body.
struct RpcSession::Packet
{
    int32_t code = kTenonRpcNone;
    std::string body;
};

Result<std::unique_ptr<RpcSession>> RpcSession::open(int fd, const Patience& patience)
{
    std::unique_ptr<RpcSession> session(new RpcSession(fd));
    session->setPatience(patience);
    if (Status greeted = session->greet(); !greeted) return greeted.error();
    return session;
}

Result<std::unique_ptr<RpcSession>> RpcSession::open(int fd, const std::string& key,
                                                     const Patience& patience)
{
    std::unique_ptr<RpcSession> session(new RpcSession(fd));
    session->setPatience(patience);
    if (Status known = session->shakeHands(key); !known) return known.error();
    if (Status greeted = session->greet(); !greeted) return greeted.error();
    return session;
}

Status RpcSession::greet()
{
    const Result<Packet> answer =
        exchange({kTenonRpcInitServer, wire::greeting(TENON_RPC_VERSION)});
    if (!answer) return answer.error();
    return core::kDone;
}

Status RpcSession::shakeHands(const std::string& key)
{
    constexpr int32_t kMostKey = 512; // 256 of its own, and what stands before it
    m_link.begin(m_patience);
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

RpcSession::~RpcSession()
{
    if (m_link.isBroken()) return;
    m_link.begin({.timeout = std::chrono::milliseconds(200)});
    const std::string goodbye = wire::packet(kTenonRpcShutdown, "");
    // The server also ends when the link closes, so a lost goodbye does no harm.
    static_cast<void>(m_link.send(std::as_bytes(std::span(goodbye))));
}

Result<RpcSession::Packet> RpcSession::exchange(Packet request)
{
    Patience patience = m_patience;
    if (m_longestSilence.count() > 0) patience.longestSilence = m_longestSilence;
    m_link.begin(patience);
    const std::string bytes = wire::packet(request.code, request.body);
    const Status sent = m_link.send(std::as_bytes(std::span(bytes)));
    if (!sent) return sent.error();
    Result<Packet> answer = receive();
    while (answer && answer->code == kTenonRpcHeartbeat) answer = receive();
    if (answer && answer->code == kTenonRpcException) {
        const Result<Reply> text = wire::readValue(answer->body);
        return text ? makeError(BoardCode::DataFault, text->text)
                    : makeError(DiagnosticCode::RpcFailure, "the server failed");
    }
    return answer;
}

Result<RpcSession::Packet> RpcSession::receive()
{
    uint8_t header[8];
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(header))); !got)
        return got.error();
    const int64_t size = tenon_packet_size(header, TENON_RPC_MAX_PACKET);
    if (size < 0) return unexpected("with a packet of impossible size");
    Packet answer;
    uint8_t code[4];
    if (Status got = m_link.receive(std::as_writable_bytes(std::span(code))); !got)
        return got.error();
    answer.code = wire::integer32(code);
    if (Status got = m_link.receive(answer.body, static_cast<size_t>(size) - sizeof code); !got)
        return got.error();
    return answer;
}

Status RpcSession::startHeart(std::chrono::milliseconds longestSilence)
{
    constexpr int64_t kBeats = 6; // in the longest silence; the first takes up to two intervals
    const Result<RemoteHandle> function = globalFunction("tenon.rpc.server.heartbeat");
    if (!function) return function.error();
    if (!*function) return core::kDone;
    const Result<Reply> started =
        call(*function, PackedArgs().integer(longestSilence.count() / kBeats));
    if (started) m_longestSilence = longestSilence;
    if (m_link.isBroken()) return started.error();
    return release(*function);
}

Result<Reply> RpcSession::syscall(int code, const PackedArgs& arguments)
{
    const Result<Packet> answer = exchange({code, wire::sequence(arguments)});
    if (!answer) return answer.error();
    if (answer->code != kTenonRpcReturn) return unexpected("a system call");
    return wire::readValue(answer->body);
}

Result<RemoteHandle> RpcSession::globalFunction(const std::string& name)
{
    const Result<Reply> reply = syscall(kTenonRpcGetGlobalFunc, PackedArgs().text(name));
    if (!reply) return reply.error();
    return RemoteHandle{reply->handle.id, kTVMPackedFuncHandle};
}

Result<Reply> RpcSession::call(RemoteHandle function, const PackedArgs& arguments)
{
    const Result<Packet> answer =
        exchange({kTenonRpcCallFunc, wire::integer64(function.id) + wire::sequence(arguments)});
    if (!answer) return answer.error();
    if (answer->code != kTenonRpcReturn) return unexpected("a call");
    return wire::readReturn(answer->body);
}

Result<Reply> RpcSession::callGlobal(const std::string& name, const PackedArgs& arguments)
{
    const Result<RemoteHandle> function = globalFunction(name);
    if (!function) return function.error();
    if (!*function)
        return makeError(DiagnosticCode::RpcFailure,
                         "the server has no function " + core::quoted(name));
    Result<Reply> reply = call(*function, arguments);
    if (m_link.isBroken()) return reply;
    if (Status released = release(*function); reply && !released) return released.error();
    return reply;
}

Result<RemoteHandle> RpcSession::moduleFunction(RemoteHandle module, const std::string& name)
{
    if (!m_moduleFunction) {
        const Result<RemoteHandle> found = globalFunction("tvm.rpc.server.ModuleGetFunction");
        if (!found) return found.error();
        if (!*found) return unexpected("that it cannot look into modules");
        m_moduleFunction = *found;
    }
    const Result<Reply> reply =
        call(m_moduleFunction, PackedArgs().handle(module).text(name).integer(1));
    if (!reply) return reply.error();
    if (!reply->handle)
        return makeError(DiagnosticCode::UnknownName,
                         "the module has no function " + core::quoted(name));
    return reply->handle;
}

Result<RemoteTensor> RpcSession::allocate(core::DataType dtype, const std::vector<int64_t>& shape)
{
    RemoteTensor tensor{.data = 0, .dtype = dtype, .shape = shape};
    const Result<Reply> reply =
        syscall(kTenonRpcDevAllocDataWithScope, PackedArgs().tensor(tensor).none());
    if (!reply) return reply.error();
    tensor.data = reply->handle.id;
    return tensor;
}

Status RpcSession::copyTo(const RemoteTensor& tensor, std::span<const std::byte> bytes)
{
    if (bytes.size() > TENON_RPC_MAX_PACKET / 2)
        return makeError(DiagnosticCode::RpcFailure,
                         "a tensor of " + core::bytesText(bytes.size()) + " is too large to send");
    std::string body = wire::tensor(tensor) + wire::integer64(bytes.size());
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const Result<Packet> answer = exchange({kTenonRpcCopyToRemote, std::move(body)});
    if (!answer) return answer.error();
    if (answer->code != kTenonRpcReturn) return unexpected("a copy");
    return core::kDone;
}

Result<core::Tensor> RpcSession::copyFrom(const RemoteTensor& tensor)
{
    const int64_t bytes = core::elementCount(tensor.shape) * tensor.dtype.bytes();
    const Result<Packet> answer =
        exchange({kTenonRpcCopyFromRemote,
                  wire::tensor(tensor) + wire::integer64(static_cast<uint64_t>(bytes))});
    if (!answer) return answer.error();
    if (answer->code != kTenonRpcCopyAck || answer->body.size() != static_cast<size_t>(bytes))
        return unexpected("a copy");
    return core::Tensor::make(tensor.dtype, tensor.shape, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), answer->body.data(), out.size());
    });
}

Status RpcSession::release(const RemoteTensor& tensor)
{
    if (tensor.array != 0) return release(RemoteHandle{tensor.array, kTVMNDArrayHandle});
    const Result<Reply> reply =
        syscall(kTenonRpcDevFreeData,
                PackedArgs().cpu().handle(RemoteHandle{tensor.data, kTVMOpaqueHandle}));
    if (!reply) return reply.error();
    return core::kDone;
}

Status RpcSession::release(RemoteHandle handle)
{
    const Result<Reply> reply = syscall(
        kTenonRpcFreeHandle,
        PackedArgs().handle(RemoteHandle{handle.id, kTVMOpaqueHandle}).integer(handle.code));
    if (!reply) return reply.error();
    return core::kDone;
}

} // namespace tenon::remote
