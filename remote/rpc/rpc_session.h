// SPDX-License-Identifier: Apache-2.0
// RpcSession: the client of a TVM-compatible RPC server over a socket or another line.
#pragma once

#include "remote/rpc/packed_args.h"
#include "remote/rpc/packet_carrier.h"

#include <memory>

namespace tenon::remote {

/// One conversation; not thread-safe. Handles die with the session.
/// Errors: DataFault (what the other side's runtime says of a call: the program's data, or its
/// arguments), RpcFailure (the conversation failed), TimedOut, Cancelled. The latter two leave the
/// session broken: kill the server or hang up.
class RpcSession
{
public:
    /// Takes over the socket and greets the server.
    static core::Result<std::unique_ptr<RpcSession>> open(int fd, const Patience& patience = {});
    /// The same with a listening server, which first asks for a key (empty: none). Error
    /// AuthFailure when it is another one.
    static core::Result<std::unique_ptr<RpcSession>> open(int fd, const std::string& key,
                                                          const Patience& patience);
    /// Over a line that is ready, with a server that expects no greeting.
    static std::unique_ptr<RpcSession> over(std::unique_ptr<PacketCarrier> carrier,
                                            const Patience& patience);
    ~RpcSession(); ///< says goodbye when the link still works

    /// Handle 0 when the server has no such function.
    core::Result<RemoteHandle> globalFunction(const std::string& name);
    core::Result<Reply> call(RemoteHandle function, const PackedArgs& arguments);
    /// Looks up, calls and releases a global function.
    core::Result<Reply> callGlobal(const std::string& name, const PackedArgs& arguments);
    /// A function of a module; error UnknownName when there is none.
    core::Result<RemoteHandle> moduleFunction(RemoteHandle module, const std::string& name);

    core::Result<RemoteTensor> allocate(core::DataType dtype, const std::vector<int64_t>& shape);
    core::Status copyTo(const RemoteTensor& tensor, std::span<const std::byte> bytes);
    core::Result<core::Tensor> copyFrom(const RemoteTensor& tensor);
    core::Status release(const RemoteTensor& tensor);
    core::Status release(RemoteHandle handle);

    /// Asks Tenon's servers for signs of life while they work, so that one that hangs is noticed
    /// after `longestSilence`: LinkLost. Others know none, and may be silent until time is up.
    core::Status startHeart(std::chrono::milliseconds longestSilence);
    /// For everything that follows.
    void setPatience(const Patience& patience) { m_patience = patience; }
    bool isBroken() const { return m_carrier->isBroken(); }

private:
    explicit RpcSession(std::unique_ptr<PacketCarrier> carrier)
        : m_carrier(std::move(carrier))
    {
    }
    static core::Result<std::unique_ptr<RpcSession>> greeted(std::unique_ptr<RpcSession> session);
    core::Status greet();
    core::Result<RpcPacket> exchange(const RpcPacket& request);
    core::Result<Reply> syscall(int code, const PackedArgs& arguments);
    size_t mostCopied(const RemoteTensor& tensor) const;

    std::unique_ptr<PacketCarrier> m_carrier;
    Patience m_patience;
    std::chrono::milliseconds m_longestSilence{0}; ///< of a server with a heart; 0: it has none
    RemoteHandle m_moduleFunction; ///< tvm.rpc.server.ModuleGetFunction, once asked for
};

} // namespace tenon::remote
