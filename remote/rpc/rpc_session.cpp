// SPDX-License-Identifier: Apache-2.0
// The client of a TVM-compatible RPC server.
#include "remote/rpc/rpc_session.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/rpc/socket_carrier.h"
#include "remote/rpc/wire.h"

#include <algorithm>
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

Result<std::unique_ptr<RpcSession>> RpcSession::open(int fd, const Patience& patience)
{
    return greeted(over(std::make_unique<SocketCarrier>(fd), patience));
}

Result<std::unique_ptr<RpcSession>> RpcSession::open(int fd, const std::string& key,
                                                     const Patience& patience)
{
    auto carrier = std::make_unique<SocketCarrier>(fd);
    if (Status known = carrier->shakeHands(key, patience); !known) return known.error();
    return greeted(over(std::move(carrier), patience));
}

std::unique_ptr<RpcSession> RpcSession::over(std::unique_ptr<PacketCarrier> carrier,
                                             const Patience& patience)
{
    std::unique_ptr<RpcSession> session(new RpcSession(std::move(carrier)));
    session->setPatience(patience);
    return session;
}

Result<std::unique_ptr<RpcSession>> RpcSession::greeted(std::unique_ptr<RpcSession> session)
{
    if (Status greeted = session->greet(); !greeted) return greeted.error();
    return session;
}

Status RpcSession::greet()
{
    const Result<RpcPacket> answer =
        exchange({kTenonRpcInitServer, wire::greeting(TENON_RPC_VERSION)});
    if (!answer) return answer.error();
    return core::kDone;
}

RpcSession::~RpcSession()
{
    if (!m_carrier->isBroken()) m_carrier->hangUp();
}

Result<RpcPacket> RpcSession::exchange(const RpcPacket& request)
{
    Patience patience = m_patience;
    if (m_longestSilence.count() > 0) patience.longestSilence = m_longestSilence;
    Result<RpcPacket> answer = m_carrier->exchange(request, patience);
    if (answer && answer->code == kTenonRpcException) {
        const Result<Reply> text = wire::readValue(answer->body);
        return text ? makeError(BoardCode::DataFault, text->text)
                    : makeError(DiagnosticCode::RpcFailure, "the server failed");
    }
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
    if (m_carrier->isBroken()) return started.error();
    return release(*function);
}

Result<Reply> RpcSession::syscall(int code, const PackedArgs& arguments)
{
    const Result<RpcPacket> answer = exchange({code, wire::sequence(arguments)});
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
    const Result<RpcPacket> answer =
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
    if (m_carrier->isBroken()) return reply;
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

/// What fits into a packet besides its code, the tensor's description and lengths.
size_t RpcSession::mostCopied(const RemoteTensor& tensor) const
{
    const size_t most = m_carrier->mostBytes();
    if (most == 0) return SIZE_MAX;
    const size_t around = 8 + 4 + 36 + 8 * tensor.shape.size() + 8;
    return most > around ? most - around : 1;
}

Status RpcSession::copyTo(const RemoteTensor& tensor, std::span<const std::byte> bytes)
{
    if (bytes.size() > TENON_RPC_MAX_PACKET / 2)
        return makeError(DiagnosticCode::RpcFailure,
                         "a tensor of " + core::bytesText(bytes.size()) + " is too large to send");
    const size_t most = mostCopied(tensor);
    RemoteTensor part = tensor;
    do {
        const auto now = bytes.first(std::min(most, bytes.size()));
        std::string body = wire::tensor(part) + wire::integer64(now.size());
        body.append(reinterpret_cast<const char*>(now.data()), now.size());
        const Result<RpcPacket> answer = exchange({kTenonRpcCopyToRemote, std::move(body)});
        if (!answer) return answer.error();
        if (answer->code != kTenonRpcReturn) return unexpected("a copy");
        bytes = bytes.subspan(now.size());
        part.byteOffset += now.size();
    } while (!bytes.empty());
    return core::kDone;
}

Result<core::Tensor> RpcSession::copyFrom(const RemoteTensor& tensor)
{
    const auto bytes = static_cast<size_t>(core::elementCount(tensor.shape) * tensor.dtype.bytes());
    const size_t most = mostCopied(tensor);
    RemoteTensor part = tensor;
    std::string all;
    do {
        const size_t now = std::min(most, bytes - all.size());
        const Result<RpcPacket> answer =
            exchange({kTenonRpcCopyFromRemote, wire::tensor(part) + wire::integer64(now)});
        if (!answer) return answer.error();
        if (answer->code != kTenonRpcCopyAck || answer->body.size() != now)
            return unexpected("a copy");
        all += answer->body;
        part.byteOffset += now;
    } while (all.size() < bytes);
    return core::Tensor::make(tensor.dtype, tensor.shape, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), all.data(), out.size());
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
