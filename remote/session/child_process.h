// SPDX-License-Identifier: Apache-2.0
// A child process with a socket to it; killed and reaped when its owner goes.
#pragma once

#include "core/base/result.h"
#include "remote/session/server_end.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::remote {

enum class ErrorOutput : uint8_t
{
    Inherited,
    Kept ///< for lastWords(), and for our own error output when nobody asks
};

class ChildProcess : public ServerEnd
{
public:
    /// Starts `program` with `arguments`; the child's descriptor 3 is the other end of the socket.
    static core::Result<ChildProcess> start(const std::string& program,
                                            const std::vector<std::string>& arguments,
                                            ErrorOutput errors = ErrorOutput::Inherited);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    ~ChildProcess() override;

    /// This side's end; the caller becomes its owner. Only once.
    int takeSocket();
    int signalOfDeath(std::chrono::milliseconds patience) override;
    std::string lastWords() override;
    std::optional<core::Diagnostic> lostLink() override { return std::nullopt; }
    pid_t pid() const { return m_pid; }

private:
    ChildProcess(pid_t pid, int socket, int errors);
    bool reap();

    pid_t m_pid;
    int m_socket;
    int m_errors; ///< an anonymous file, or -1
    int m_status = 0;
    bool m_isReaped = false;
};

/// "SIGSEGV" for 11; "signal 40" for signals without a common name.
std::string signalName(int signal);

} // namespace tenon::remote
