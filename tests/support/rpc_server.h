// SPDX-License-Identifier: Apache-2.0
// A listening tenon-rpc-server as a process of its own.
#pragma once

#include "tests/support/environment.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenon::test {

/// Started on construction, ended by SIGTERM.
class RpcServer
{
public:
    /// `arguments` beside --port 0.
    explicit RpcServer(const std::vector<std::string>& arguments);
    RpcServer(const RpcServer&) = delete;
    RpcServer& operator=(const RpcServer&) = delete;
    ~RpcServer();

    int port() const { return m_port; }
    pid_t pid() const { return m_pid; }
    /// What it said first.
    const std::string& greeting() const { return m_greeting; }
    /// Processes below it that have not ended, whoever started them.
    size_t descendants() const;
    /// To it and all below it.
    void signalAll(int signal) const;
    /// Where its sessions have their folders.
    const std::string& folder() const { return m_folder.path(); }
    /// The next line that it prints; "" when none comes within a minute.
    std::string nextLine();
    /// Ends it; its exit status as waitpid() gives it.
    int stop(int signal);
    /// Files and folders that its sessions have at the moment.
    size_t filesLeft() const;

private:
    TemporaryFolder m_folder;
    pid_t m_pid = -1;
    int m_out = -1;
    int m_port = 0;
    std::string m_greeting;
};

} // namespace tenon::test
