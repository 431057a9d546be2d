// SPDX-License-Identifier: Apache-2.0
// The RPC server that runs on an SSH board.
#include "remote/deploy/board_server.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/deploy/probe_script.h"
#include "remote/ssh/shell_word.h"
#include "runtime/rpc/patch.h"

#include <sys/random.h>

#include <array>
#include <condition_variable>
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

/// The script ends a server that hears nothing for much longer.
constexpr std::chrono::seconds kBeat{2};

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

bool tellsOfFullDisk(const std::string& text)
{
    return text.find("No space left") != std::string::npos ||
           text.find("quota") != std::string::npos;
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
        while (m_signal == 0 && (m_signal = m_server->lastSignal()) == 0 &&
               m_server->session().isAlive() && !m_server->hasEnded() &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(milliseconds(10));
        return m_signal;
    }
    std::optional<core::Diagnostic> lostLink() override
    {
        // What ended the session is told a moment later.
        if (signalOfDeath(std::chrono::seconds(1)) != 0) return std::nullopt;
        if (!m_server->session().isAlive())
            return makeError(BoardCode::LinkLost,
                             "the connection to " + core::quoted(m_server->session().peer()) +
                                 " was lost; is the board still powered and on the network?");
        if (!m_server->hasEnded()) return std::nullopt;
        return makeError(DiagnosticCode::BoardFailure,
                         "Tenon's server on " + core::quoted(m_server->session().peer()) +
                             " was ended; somebody killed it or memory ran out");
    }

private:
    std::shared_ptr<BoardServer> m_server;
    int m_signal = 0; ///< once it is known
};

} // namespace

BoardServer::BoardServer(std::shared_ptr<SshSession> session)
    : m_session(std::move(session))
{
}

Result<std::shared_ptr<BoardServer>> BoardServer::enter(std::shared_ptr<SshSession> session,
                                                        bool keepsFiles, milliseconds timeout,
                                                        const JobContext& job)
{
    auto server = std::make_shared<BoardServer>(session);
    Result<std::unique_ptr<SshCommand>> started =
        session->start("exec /bin/sh -c " + shellQuoted(probeScript(keepsFiles)), timeout, job);
    if (!started) return started.error();
    server->m_command = std::move(*started);
    if (Status greeted = server->greet(Deadline(timeout, job)); !greeted) return greeted.error();
    return server;
}

Status BoardServer::greet(const Deadline& deadline)
{
    for (;;) {
        const Result<std::string> line = m_command->readLine(deadline);
        if (!line) return line.error();
        m_greeting += *line + "\n";
        if (*line == "== end") return core::kDone;
    }
}

/// A failure that tells of a full disk has a code of its own.
core::Diagnostic BoardServer::failed(const core::Diagnostic& error) const
{
    if (!tellsOfFullDisk(error.message)) return error;
    return makeError(BoardCode::DiskFull, "the disk of " + core::quoted(m_session->peer()) +
                                              " is full; free some space there");
}

Status BoardServer::start(const Program& program, milliseconds timeout, const JobContext& job)
{
    const Result<std::string> key = makeKey();
    if (!key) return key.error();
    m_key = *key;
    const Deadline deadline(timeout, job);
    const std::span<const std::byte> bytes =
        program.isThere ? std::span<const std::byte>() : program.bytes;
    const std::string order = program.name + " " + std::to_string(bytes.size()) + "\n";
    for (const auto piece : {std::as_bytes(std::span(order)), bytes})
        if (Status fed = m_command->feed(piece, deadline); !fed) return fed;
    const Result<std::string> received = m_command->readLine(deadline);
    if (!received) return failed(received.error());
    const std::string line = "\n" + m_key + "\n";
    if (Status fed = m_command->feed(std::as_bytes(std::span(line)), deadline); !fed) return fed;
    const Result<std::string> said = m_command->readLine(deadline);
    if (!said) return failed(said.error());
    const size_t colon = said->rfind(':');
    m_port = colon == std::string::npos ? 0 : std::atoi(said->c_str() + colon + 1);
    if (m_port > 0) {
        const size_t begin = said->find('(');
        if (begin != std::string::npos)
            m_confinement = said->substr(begin + 1, said->rfind(')') - begin - 1);
        m_beat = std::jthread([this](const std::stop_token& stop) { beat(stop); });
        return core::kDone;
    }
    return makeError(DiagnosticCode::BoardFailure, "the server on the board said " +
                                                       core::quoted(*said) +
                                                       " instead of its port");
}

void BoardServer::beat(const std::stop_token& stop)
{
    const JobContext nobodyStops;
    const std::string line = "\n";
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, kBeat, [&] { return stop.stop_requested(); })) {
        const std::scoped_lock command(m_mutex);
        if (!m_command->feed(std::as_bytes(std::span(line)), Deadline(kBeat, nobodyStops))) return;
    }
}

Status BoardServer::store(const Parcel& parcel, milliseconds timeout, const JobContext& job)
{
    const Deadline deadline(timeout, job);
    const std::string order = "put " + (parcel.base.empty() ? "-" : parcel.base) + "\n";
    std::vector<std::span<const std::byte>> pieces = parcel.pieces;
    pieces.insert(pieces.begin(), std::as_bytes(std::span(order)));
    const std::scoped_lock lock(m_mutex);
    for (const auto piece : pieces)
        if (Status fed = m_command->feed(piece, deadline); !fed) return fed;
    const std::string& sha256 = parcel.sha256.get();
    const std::string end =
        static_cast<char>(kTenonPatchEnd) + sha256 + parcel.suffix + " " + sha256 + "\n";
    if (Status fed = m_command->feed(std::as_bytes(std::span(end)), deadline); !fed) return fed;
    const Result<std::string> said = m_command->readLine(deadline);
    if (!said) return said.error();
    if (*said == "stored") return core::kDone;
    return failed(makeError(DiagnosticCode::BoardFailure,
                            "sending a file to " + core::quoted(m_session->peer()) + ": " + *said));
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
    m_beat.request_stop();
    const std::scoped_lock lock(m_mutex);
    const Result<SshExit> exit = m_command->finish(Deadline(timeout, nobodyStops));
    if (!exit) return exit.error();
    if (exit->status >= 0) return core::kDone;
    return makeError(DiagnosticCode::BoardFailure, "Tenon's shell on " +
                                                       core::quoted(m_session->peer()) +
                                                       " was killed before it could clean up");
}

int BoardServer::lastSignal()
{
    const std::scoped_lock lock(m_mutex);
    const std::string& errors = m_command->errorsSoFar();
    const std::string key = "ended by signal ";
    const size_t at = errors.find(key, m_errorsRead);
    if (at == std::string::npos || errors.find('\n', at) == std::string::npos) return 0;
    m_errorsRead = errors.find('\n', at);
    return std::atoi(errors.c_str() + at + key.size());
}

bool BoardServer::hasEnded()
{
    const std::scoped_lock lock(m_mutex);
    return m_command->hasEnded().has_value();
}

std::unique_ptr<ServerEnd> serverEndOf(std::shared_ptr<BoardServer> server)
{
    return std::make_unique<End>(std::move(server));
}

} // namespace tenon::remote
