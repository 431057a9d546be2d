// SPDX-License-Identifier: Apache-2.0
// A command that runs on the host.
#include "remote/ssh/ssh_command.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

/// Large pieces: each costs a round trip on links with delay.
constexpr size_t kPieceBytes = 256 * 1024;
/// Nothing a board says to us is longer; more is dropped.
constexpr size_t kMaxOutput = size_t{4} << 20;

} // namespace

SshCommand::SshCommand(std::shared_ptr<SshTransport> transport, ssh_channel channel)
    : m_transport(std::move(transport))
    , m_channel(channel)
{
}

SshCommand::~SshCommand()
{
    const std::scoped_lock lock(m_transport->mutex());
    ssh_channel_close(m_channel);
    ssh_channel_free(m_channel);
}

Result<std::unique_ptr<SshCommand>> SshCommand::start(std::shared_ptr<SshTransport> transport,
                                                      const std::string& command,
                                                      const Deadline& deadline)
{
    ssh_channel channel = nullptr;
    {
        const std::scoped_lock lock(transport->mutex());
        channel = ssh_channel_new(transport->session());
    }
    CHECK(channel) << "libssh has no memory";
    std::unique_ptr<SshCommand> out(new SshCommand(transport, channel));
    Status opened = transport->complete([&] { return ssh_channel_open_session(channel); }, deadline,
                                        DiagnosticCode::BoardFailure, "open a session");
    if (opened)
        opened =
            transport->complete([&] { return ssh_channel_request_exec(channel, command.c_str()); },
                                deadline, DiagnosticCode::BoardFailure, "run a command");
    if (!opened) return opened.error();
    return out;
}

int SshCommand::drain()
{
    std::array<char, 16384> block;
    bool isOpen = false;
    for (const int isStderr : {0, 1}) {
        int got = 0;
        while ((got = ssh_channel_read_nonblocking(m_channel, block.data(), block.size(),
                                                   isStderr)) > 0) {
            std::string& text = isStderr ? m_exit.errors : m_exit.output;
            if (text.size() < kMaxOutput) text.append(block.data(), static_cast<size_t>(got));
        }
        if (got == SSH_ERROR) return SSH_ERROR;
        isOpen = isOpen || got != SSH_EOF;
    }
    isOpen = isOpen && ssh_channel_is_eof(m_channel) == 0 && ssh_channel_is_closed(m_channel) == 0;
    return isOpen ? SSH_AGAIN : SSH_EOF;
}

Status SshCommand::feed(std::span<const std::byte> input, const Deadline& deadline)
{
    while (!input.empty()) {
        bool hasEnded = false;
        const Result<int> sent = m_transport->retry(
            [&] {
                hasEnded = drain() != SSH_AGAIN;
                if (hasEnded) return 0;
                const auto piece = static_cast<uint32_t>(std::min(input.size(), kPieceBytes));
                const int count = ssh_channel_write(m_channel, input.data(), piece);
                return count == 0 ? SSH_AGAIN : count;
            },
            deadline);
        if (!sent) return sent.error();
        if (hasEnded) return core::kDone;
        if (*sent < 0) return m_transport->lost();
        input = input.subspan(static_cast<size_t>(*sent));
    }
    return core::kDone;
}

Result<std::string> SshCommand::readLine(const Deadline& deadline)
{
    size_t end = std::string::npos;
    const Result<int> status = m_transport->retry(
        [&] {
            const int now = drain();
            end = m_exit.output.find('\n', m_lineStart);
            return end != std::string::npos ? SSH_OK : now;
        },
        deadline);
    if (!status) return status.error();
    if (end == std::string::npos && !m_transport->isAlive()) return m_transport->lost();
    if (end == std::string::npos)
        return makeError(DiagnosticCode::BoardFailure,
                         "a command on " + core::quoted(m_transport->peer()) +
                             " ended: " + std::string(core::trimmed(m_exit.errors)));
    std::string line = m_exit.output.substr(m_lineStart, end - m_lineStart);
    m_lineStart = end + 1;
    return line;
}

Result<SshExit> SshCommand::finish(const Deadline& deadline)
{
    {
        const std::scoped_lock lock(m_transport->mutex());
        ssh_channel_send_eof(m_channel);
    }
    const Result<int> ended = m_transport->retry(
        [&] {
            const int now = drain();
            if (now == SSH_AGAIN) return SSH_AGAIN;
            m_exit.status = ssh_channel_get_exit_status(m_channel);
            // The status may follow the end of the output; a closed channel has none to come.
            const bool isOver = m_exit.status >= 0 || ssh_channel_is_closed(m_channel) != 0;
            return now == SSH_ERROR || isOver ? SSH_OK : SSH_AGAIN;
        },
        deadline);
    if (!ended) return ended.error();
    if (m_exit.status < 0 && !m_transport->isAlive()) return m_transport->lost();
    return m_exit;
}

std::optional<int> SshCommand::hasEnded()
{
    const std::scoped_lock lock(m_transport->mutex());
    if (drain() == SSH_AGAIN) return std::nullopt;
    return ssh_channel_get_exit_status(m_channel);
}

const std::string& SshCommand::errorsSoFar()
{
    const std::scoped_lock lock(m_transport->mutex());
    drain();
    return m_exit.errors;
}

} // namespace tenon::remote
