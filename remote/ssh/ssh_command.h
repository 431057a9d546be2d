// SPDX-License-Identifier: Apache-2.0
// SshCommand: a command that runs on the host; closing its input is how it is told to end.
#pragma once

#include "remote/ssh/ssh_session.h"
#include "remote/ssh/ssh_transport.h"

#include <optional>

namespace tenon::remote {

/// Not thread-safe by itself; other channels of the session may be busy meanwhile.
class SshCommand
{
public:
    /// Error BoardFailure when the host refuses to run commands.
    static core::Result<std::unique_ptr<SshCommand>> start(std::shared_ptr<SshTransport> transport,
                                                           const std::string& command,
                                                           const Deadline& deadline);
    SshCommand(const SshCommand&) = delete;
    SshCommand& operator=(const SshCommand&) = delete;
    ~SshCommand(); ///< closes the channel

    /// Writes to its standard input in large pieces, collecting what it says meanwhile. Stops
    /// early, without error, when the command has ended.
    core::Status feed(std::span<const std::byte> input, const Deadline& deadline);
    /// The next line of its output, without the end of line. Error BoardFailure with its stderr
    /// when it ended first.
    core::Result<std::string> readLine(const Deadline& deadline);
    /// Closes its input and waits for its end.
    core::Result<SshExit> finish(const Deadline& deadline);
    /// Set when it has ended by itself: its status, -1 after a signal.
    std::optional<int> hasEnded();
    /// What it wrote to stderr so far.
    const std::string& errorsSoFar();

private:
    SshCommand(std::shared_ptr<SshTransport> transport, ssh_channel channel);
    /// Reads what is there; SSH_AGAIN while the command runs, SSH_EOF or SSH_ERROR after.
    int drain();

    std::shared_ptr<SshTransport> m_transport;
    ssh_channel m_channel;
    SshExit m_exit;
    size_t m_lineStart = 0;
};

} // namespace tenon::remote
