// SPDX-License-Identifier: Apache-2.0
// The one command that runs on an SSH board while it is used: a shell that becomes the RPC server.
// It is held by its standard input, through which all files come, too.
#pragma once

#include "remote/rpc/rpc_session.h"
#include "remote/session/server_end.h"
#include "remote/ssh/ssh_command.h"

#include <future>
#include <mutex>
#include <span>
#include <thread>

namespace tenon::remote {

class BoardServer
{
public:
    /// Starts the probe script, which says what the board is and then waits for start().
    static core::Result<std::shared_ptr<BoardServer>> enter(std::shared_ptr<SshSession> session,
                                                            bool keepsFiles,
                                                            std::chrono::milliseconds timeout,
                                                            const core::JobContext& job);
    explicit BoardServer(std::shared_ptr<SshSession> session);

    /// What the script said.
    const std::string& greeting() const { return m_greeting; }
    /// What the server said it holds sessions to.
    const std::string& confinement() const { return m_confinement; }

    struct Program
    {
        std::string name; ///< "server-" and its SHA-256
        std::span<const std::byte> bytes;
        bool isThere = false; ///< kept from an earlier time
    };
    /// Sends the server, unless it is there, and runs it. Errors: DiskFull, BoardFailure, LinkLost,
    /// TimedOut, Cancelled; nothing can be done with this command afterwards.
    core::Status start(const Program& program, std::chrono::milliseconds timeout,
                       const core::JobContext& job);

    /// A file for the server's folder, made of one it has and of what is new. `pieces` are a patch
    /// (runtime/rpc/patch.h) without its end.
    struct Parcel
    {
        std::string base; ///< empty: of nothing
        std::vector<std::span<const std::byte>> pieces;
        std::shared_future<std::string> sha256; ///< of the whole; it is also the name
        std::string suffix;                     ///< of the name
    };
    /// The file appears whole and verified, or not at all. Errors as of start().
    core::Status store(const Parcel& parcel, std::chrono::milliseconds timeout,
                       const core::JobContext& job);

    /// A new session of the server; the one before must have ended.
    core::Result<std::unique_ptr<RpcSession>> open(std::chrono::milliseconds timeout,
                                                   const core::JobContext& job);
    /// Lets the command end and waits for it; files that are not kept are gone then.
    core::Status end(std::chrono::milliseconds timeout);
    /// The number behind "ended by signal" in what the server said last, or 0.
    int lastSignal();
    bool hasEnded();
    const SshSession& session() const { return *m_session; }

private:
    core::Status greet(const Deadline& deadline);
    /// Lets the server know every two seconds that somebody is there.
    void beat(const std::stop_token& stop);
    core::Diagnostic failed(const core::Diagnostic& error) const;

    std::shared_ptr<SshSession> m_session;
    std::mutex m_mutex; ///< around the command
    std::unique_ptr<SshCommand> m_command;
    std::string m_greeting;
    std::string m_confinement;
    std::string m_key;
    int m_port = 0;
    size_t m_errorsRead = 0;
    std::jthread m_beat;
};

/// What a session asks about the server.
std::unique_ptr<ServerEnd> serverEndOf(std::shared_ptr<BoardServer> server);

} // namespace tenon::remote
