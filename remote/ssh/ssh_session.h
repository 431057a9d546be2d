// SPDX-License-Identifier: Apache-2.0
// SshSession: one authenticated connection to a verified host; commands, uploads and tunnels on it.
#pragma once

#include "core/jobs/job.h"
#include "remote/ssh/ssh_prompt.h"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tenon::remote {

/// Where to connect. Empty and 0: as the user's ssh configuration says, else the usual.
struct SshAddress
{
    std::string host; ///< name, address or alias
    int port = 0;
    std::string user;
    std::string identityFile;
};

struct SshOptions
{
    std::string knownHostsFile;      ///< ours: accepted keys are added to it
    std::string userKnownHostsFile;  ///< read only; empty: ~/.ssh/known_hosts
    std::string configFile;          ///< empty: ~/.ssh/config; "none": no file
    std::string acceptedFingerprint; ///< a script's answer to the question of first contact
    SshPrompt* prompt = nullptr;     ///< null: no to everything
    bool usesAgent = true;
    std::chrono::milliseconds timeout{std::chrono::seconds(20)}; ///< to connect, without prompts
    /// The same as connections notice by themselves when no packet is acknowledged (tcp.cpp); a
    /// server that hangs acknowledges all the same.
    std::chrono::milliseconds longestSilence{6000};
    /// Makes the socket to the server in another way than by TCP; empty: TCP.
    std::function<core::Result<int>()> dial;
};

struct SshExit
{
    int status = -1; ///< -1: the command ended by a signal or the link broke
    std::string output;
    std::string errors;
};

class SshCommand;
class SshTransport;

/// Thread-safe. Errors: Cancelled, the TimedOut of the caller's phase, LinkLost.
class SshSession
{
public:
    /// Errors: BoardUnreachable, HostKeyUnknown (not accepted), HostKeyChanged (both fingerprints),
    /// AuthFailure, ConnectTimedOut, Cancelled.
    static core::Result<std::shared_ptr<SshSession>>
    connect(const SshAddress& address, const SshOptions& options, const core::JobContext& job);
    explicit SshSession(std::shared_ptr<SshTransport> transport);
    SshSession(const SshSession&) = delete;
    SshSession& operator=(const SshSession&) = delete;
    ~SshSession(); ///< hangs up

    /// Runs `command` to its end; `input` is its standard input.
    core::Result<SshExit> run(const std::string& command, std::span<const std::byte> input,
                              std::chrono::milliseconds timeout, const core::JobContext& job);
    /// Starts `command` and leaves it running.
    core::Result<std::unique_ptr<SshCommand>> start(const std::string& command,
                                                    std::chrono::milliseconds timeout,
                                                    const core::JobContext& job);
    /// A socket that leads to 127.0.0.1:`port` of the host. It ends with the session.
    core::Result<int> openTunnel(int port, std::chrono::milliseconds timeout,
                                 const core::JobContext& job);

    const std::string& peer() const; ///< "pi@raspberry:22"
    bool isAlive() const;

private:
    std::shared_ptr<SshTransport> m_transport;
    std::vector<std::jthread> m_tunnels;
};

} // namespace tenon::remote
