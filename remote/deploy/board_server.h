// SPDX-License-Identifier: Apache-2.0
// The RPC server that runs on an SSH board while it is used, held by its standard input.
#pragma once

#include "remote/measure/server_end.h"
#include "remote/rpc/rpc_session.h"
#include "remote/ssh/ssh_command.h"

namespace tenon::remote {

class BoardServer
{
public:
    /// Runs `name` in its `folder` on the board. A tidy server removes the folder when it ends,
    /// however the connection may end.
    struct Place
    {
        std::string folder;
        std::string name;
        bool isTidy = true;
    };
    static core::Result<std::shared_ptr<BoardServer>> start(std::shared_ptr<SshSession> session,
                                                            const Place& place,
                                                            std::chrono::milliseconds timeout,
                                                            const core::JobContext& job);
    explicit BoardServer(std::shared_ptr<SshSession> session);

    /// A new session of the server; the one before must have ended.
    core::Result<std::unique_ptr<RpcSession>> open(std::chrono::milliseconds timeout,
                                                   const core::JobContext& job);
    /// Lets the server end and waits for it.
    core::Status end(std::chrono::milliseconds timeout);
    /// The number behind "ended by signal" in what the server said last, or 0.
    int lastSignal();
    const SshSession& session() const { return *m_session; }

private:
    std::shared_ptr<SshSession> m_session;
    std::unique_ptr<SshCommand> m_command;
    std::string m_key;
    int m_port = 0;
    size_t m_errorsRead = 0;
};

/// What a session asks about the server.
std::unique_ptr<ServerEnd> serverEndOf(std::shared_ptr<BoardServer> server);

} // namespace tenon::remote
