// SPDX-License-Identifier: Apache-2.0
// Connecting to a host and opening channels on the connection.
#include "remote/ssh/ssh_session.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/ssh/host_key.h"
#include "remote/ssh/ssh_auth.h"
#include "remote/ssh/ssh_command.h"
#include "remote/ssh/ssh_config.h"
#include "remote/ssh/ssh_transport.h"
#include "remote/ssh/tcp.h"
#include "remote/ssh/tunnel.h"

#include <sys/socket.h>
#include <unistd.h>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

// No SHA-1, no CBC, nothing older. The order is libssh's: chacha20 first, which is the faster one
// on processors without AES instructions.
constexpr const char* kHostKeys = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
                                  "ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";
constexpr const char* kCiphers = "chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,"
                                 "aes128-gcm@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr";

void configure(ssh_session session, const SshAddress& address, const SshOptions& options)
{
    const auto port = static_cast<unsigned>(address.port);
    ssh_options_set(session, SSH_OPTIONS_HOST, address.host.c_str());
    ssh_options_set(session, SSH_OPTIONS_PORT, &port);
    ssh_options_set(session, SSH_OPTIONS_USER, address.user.c_str());
    ssh_options_set(session, SSH_OPTIONS_HOSTKEYS, kHostKeys);
    ssh_options_set(session, SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES, kHostKeys);
    ssh_options_set(session, SSH_OPTIONS_CIPHERS_C_S, kCiphers);
    ssh_options_set(session, SSH_OPTIONS_CIPHERS_S_C, kCiphers);
    preferKnownKeyTypes(session, options);
}

/// What the user knows as "took too long" is, while connecting, always this.
core::Diagnostic whileConnecting(core::Diagnostic error)
{
    if (error.code == DiagnosticCode::TimedOut) error.code = BoardCode::ConnectTimedOut;
    return error;
}

Status greet(SshTransport& transport, const SshAddress& address, const SshOptions& options,
             Deadline& deadline)
{
    const Result<int> connected =
        transport.retry([&] { return ssh_connect(transport.session()); }, deadline);
    if (!connected) return connected.error();
    if (*connected != SSH_OK)
        return makeError(BoardCode::BoardUnreachable,
                         core::quoted(transport.peer()) +
                             " answers, but not as an SSH server: " + transport.reason());
    if (Status known = verifyHostKey(transport, options, deadline); !known) return known;
    return authenticate(transport, address, options, deadline);
}

} // namespace

SshSession::SshSession(std::shared_ptr<SshTransport> transport)
    : m_transport(std::move(transport))
{
}

SshSession::~SshSession()
{
    m_transport->cut();
    m_tunnels.clear(); // joins: each sees at once that the transport is cut
}

Result<std::shared_ptr<SshSession>>
SshSession::connect(const SshAddress& given, const SshOptions& options, const core::JobContext& job)
{
    const SshAddress address = completeAddress(given, options.configFile);
    const Result<int> fd = options.dial
                               ? options.dial()
                               : connectTcp(address.host, address.port, options.timeout, job);
    if (!fd) return fd.error();
    const auto transport = std::make_shared<SshTransport>(
        *fd, address.user + "@" + address.host + ":" + std::to_string(address.port),
        options.longestSilence);
    configure(transport->session(), address, options);
    Deadline deadline(options.timeout, job);
    if (Status greeted = greet(*transport, address, options, deadline); !greeted)
        return whileConnecting(greeted.error());
    transport->startHeart();
    return std::make_shared<SshSession>(transport);
}

const std::string& SshSession::peer() const { return m_transport->peer(); }

bool SshSession::isAlive() const { return m_transport->isAlive(); }

Result<std::unique_ptr<SshCommand>>
SshSession::start(const std::string& command, milliseconds timeout, const core::JobContext& job)
{
    return SshCommand::start(m_transport, command, Deadline(timeout, job));
}

Result<SshExit> SshSession::run(const std::string& command, std::span<const std::byte> input,
                                milliseconds timeout, const core::JobContext& job)
{
    const Deadline deadline(timeout, job);
    Result<std::unique_ptr<SshCommand>> started = SshCommand::start(m_transport, command, deadline);
    if (!started) return started.error();
    if (Status fed = (*started)->feed(input, deadline); !fed) return fed.error();
    return (*started)->finish(deadline);
}

Result<int> SshSession::openTunnel(int port, milliseconds timeout, const core::JobContext& job)
{
    const Deadline deadline(timeout, job);
    ssh_channel channel = nullptr;
    {
        const std::scoped_lock lock(m_transport->mutex());
        channel = ssh_channel_new(m_transport->session());
    }
    const Status opened = m_transport->complete(
        [&] { return ssh_channel_open_forward(channel, "127.0.0.1", port, "127.0.0.1", 0); },
        deadline, DiagnosticCode::BoardFailure, "open a tunnel");
    int ends[2] = {-1, -1};
    const bool hasSocket = opened && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    if (!hasSocket) {
        const std::scoped_lock lock(m_transport->mutex());
        ssh_channel_free(channel);
        return opened ? makeError(DiagnosticCode::IoFailure, "cannot create a socket")
                      : opened.error();
    }
    m_tunnels.emplace_back([transport = m_transport.get(), channel, fd = ends[0]] {
        pumpTunnel(*transport, channel, fd);
    });
    return ends[1];
}

} // namespace tenon::remote
