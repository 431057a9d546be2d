// SPDX-License-Identifier: Apache-2.0
// The RPC server that runs on an SSH board.
#include "remote/deploy/board_server.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/ssh/push_file.h"

#include <sys/random.h>

#include <array>
#include <cstdlib>
#include <thread>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

/// 128 random bits, as hex.
Result<std::string> makeKey()
{
    std::array<unsigned char, 16> bytes;
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return makeError(DiagnosticCode::IoFailure, "the system gives no random numbers");
    std::string out;
    for (const unsigned char byte : bytes) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

class End : public ServerEnd
{
public:
    explicit End(std::shared_ptr<BoardServer> server)
        : m_server(std::move(server))
    {
    }
    int signalOfDeath(milliseconds patience) override
    {
        const auto end = std::chrono::steady_clock::now() + patience;
        int signal = 0;
        while ((signal = m_server->lastSignal()) == 0 && m_server->session().isAlive() &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(milliseconds(10));
        return signal;
    }
    std::optional<core::Diagnostic> lostLink() override
    {
        if (m_server->session().isAlive()) return std::nullopt;
        return makeError(BoardCode::LinkLost,
                         "the connection to " + core::quoted(m_server->session().peer()) +
                             " was lost; is the board still powered and on the network?");
    }

private:
    std::shared_ptr<BoardServer> m_server;
};

} // namespace

BoardServer::BoardServer(std::shared_ptr<SshSession> session)
    : m_session(std::move(session))
{
}

Result<std::shared_ptr<BoardServer>> BoardServer::start(std::shared_ptr<SshSession> session,
                                                        const Place& place, milliseconds timeout,
                                                        const JobContext& job)
{
    const Result<std::string> key = makeKey();
    if (!key) return key.error();
    auto server = std::make_shared<BoardServer>(session);
    server->m_key = *key;
    const std::string folder = shellQuoted(place.folder);
    const std::string command = "cd " + folder + " && TMPDIR=" + folder + " exec ./" + place.name +
                                " --port 0 --attended --trust-paths" +
                                (place.isTidy ? " --tidy" : "");
    Result<std::unique_ptr<SshCommand>> started =
        session->start("exec /bin/sh -c " + shellQuoted(command), timeout, job);
    if (!started) return started.error();
    server->m_command = std::move(*started);
    const Deadline deadline(timeout, job);
    const std::string line = *key + "\n";
    if (Status fed = server->m_command->feed(std::as_bytes(std::span(line)), deadline); !fed)
        return fed.error();
    const Result<std::string> said = server->m_command->readLine(deadline);
    if (!said) return said.error();
    const size_t colon = said->rfind(':');
    server->m_port = colon == std::string::npos ? 0 : std::atoi(said->c_str() + colon + 1);
    if (server->m_port <= 0)
        return makeError(DiagnosticCode::BoardFailure, "the server on the board said " +
                                                           core::quoted(*said) +
                                                           " instead of its port");
    return server;
}

Result<std::unique_ptr<RpcSession>> BoardServer::open(milliseconds timeout, const JobContext& job)
{
    const Result<int> fd = m_session->openTunnel(m_port, timeout, job);
    if (!fd) return fd.error();
    return RpcSession::open(*fd, m_key, {timeout, &job});
}

Status BoardServer::end(milliseconds timeout)
{
    const JobContext nobodyStops;
    const Result<SshExit> exit = m_command->finish(Deadline(timeout, nobodyStops));
    if (!exit) return exit.error();
    return core::kDone;
}

int BoardServer::lastSignal()
{
    const std::string& errors = m_command->errorsSoFar();
    const std::string key = "ended by signal ";
    const size_t at = errors.find(key, m_errorsRead);
    if (at == std::string::npos || errors.find('\n', at) == std::string::npos) return 0;
    m_errorsRead = errors.find('\n', at);
    return std::atoi(errors.c_str() + at + key.size());
}

std::unique_ptr<ServerEnd> serverEndOf(std::shared_ptr<BoardServer> server)
{
    return std::make_unique<End>(std::move(server));
}

} // namespace tenon::remote
