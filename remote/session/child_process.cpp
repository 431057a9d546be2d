// SPDX-License-Identifier: Apache-2.0
// A child process with a socket to it.
#include "remote/session/child_process.h"

#include "core/base/text.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

extern char** environ;

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

constexpr int kChildSocket = 3;
constexpr std::chrono::milliseconds kPatience{500};

} // namespace

Result<ChildProcess> ChildProcess::start(const std::string& program,
                                         const std::vector<std::string>& arguments,
                                         ErrorOutput errors)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return makeError(DiagnosticCode::BoardFailure,
                         std::string("cannot create a socket: ") + std::strerror(errno));
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kChildSocket);
    const int kept =
        errors == ErrorOutput::Kept ? memfd_create("tenon-child-errors", MFD_CLOEXEC) : -1;
    if (kept >= 0) posix_spawn_file_actions_adddup2(&actions, kept, STDERR_FILENO);
    pid_t pid = -1;
    const int status = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (status == 0) return ChildProcess(pid, ends[0], kept);
    close(ends[0]);
    if (kept >= 0) close(kept);
    return makeError(DiagnosticCode::BoardFailure,
                     "cannot start " + core::quoted(program) + ": " + std::strerror(status));
}

ChildProcess::ChildProcess(pid_t pid, int socket, int errors)
    : m_pid(pid)
    , m_socket(socket)
    , m_errors(errors)
{
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : m_pid(other.m_pid)
    , m_socket(std::exchange(other.m_socket, -1))
    , m_errors(std::exchange(other.m_errors, -1))
    , m_status(other.m_status)
    , m_isReaped(std::exchange(other.m_isReaped, true))
{
}

ChildProcess::~ChildProcess()
{
    if (m_socket >= 0) close(m_socket);
    // A server that hears of the end sees to what its session has started; others are killed.
    static_cast<void>(signalOfDeath(kPatience));
    if (!m_isReaped) {
        kill(m_pid, SIGKILL);
        // SIGKILL cannot be refused, so this does not block for long.
        while (waitpid(m_pid, &m_status, 0) < 0 && errno == EINTR) {}
    }
    const std::string unread = lastWords();
    std::fwrite(unread.data(), 1, unread.size(), stderr);
}

std::string ChildProcess::lastWords()
{
    if (m_errors < 0) return {};
    constexpr off_t kMost = 4096;
    const off_t size = lseek(m_errors, 0, SEEK_END);
    std::string words(static_cast<size_t>(std::clamp<off_t>(size, 0, kMost)), '\0');
    const ssize_t read =
        pread(m_errors, words.data(), words.size(), std::max<off_t>(0, size - kMost));
    words.resize(static_cast<size_t>(std::max<ssize_t>(0, read)));
    close(std::exchange(m_errors, -1));
    return words;
}

int ChildProcess::takeSocket() { return std::exchange(m_socket, -1); }

bool ChildProcess::reap()
{
    if (!m_isReaped) m_isReaped = waitpid(m_pid, &m_status, WNOHANG) == m_pid;
    return m_isReaped;
}

int ChildProcess::signalOfDeath(std::chrono::milliseconds patience)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!reap() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return m_isReaped && WIFSIGNALED(m_status) ? WTERMSIG(m_status) : 0;
}

std::string signalName(int signal)
{
    switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGKILL: return "SIGKILL";
    case SIGSEGV: return "SIGSEGV";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "SIGTRAP";
    default: return "signal " + std::to_string(signal);
    }
}

} // namespace tenon::remote
