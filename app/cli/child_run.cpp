// SPDX-License-Identifier: Apache-2.0
// Spawning, draining and reaping one child in a process group of its own.
#include "app/cli/child_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutput = size_t{64} << 20;
constexpr size_t kErrorTail = 4096;

class Pipe
{
public:
    Pipe()
    {
        if (::pipe2(m_ends.data(), O_CLOEXEC) != 0) m_ends = {-1, -1};
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe()
    {
        closeEnd(0);
        closeEnd(1);
    }
    int reader() const { return m_ends[0]; }
    int writer() const { return m_ends[1]; }
    void closeWriter() { closeEnd(1); }
    /// Appends what is there; false at the end of the stream.
    bool drain(std::string& to) const
    {
        std::array<char, 65536> block;
        const ssize_t got = ::read(m_ends[0], block.data(), block.size());
        if (got < 0) return errno == EINTR || errno == EAGAIN;
        if (got > 0 && to.size() < kMaxOutput) to.append(block.data(), static_cast<size_t>(got));
        return got > 0;
    }

private:
    void closeEnd(size_t end)
    {
        if (m_ends[end] >= 0) ::close(m_ends[end]);
        m_ends[end] = -1;
    }
    std::array<int, 2> m_ends{-1, -1};
};

struct Ending
{
    Clock::time_point deadline;
    const core::JobContext& job;
};

core::Result<pid_t> spawnSelf(const std::vector<std::string>& arguments, const Pipe& out,
                              const Pipe& err)
{
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.writer(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, err.writer(), 2);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    std::vector<std::string> copies{"tenon"};
    copies.insert(copies.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return core::makeError(core::DiagnosticCode::IoFailure,
                               std::string("cannot start a child: ") + std::strerror(failed));
    return pid;
}

/// How long a stop may go unnoticed, in milliseconds.
constexpr int64_t kPollMs = 100;

/// Reads both pipes until they end, time is up or the job stops; false when they did not end.
bool drainBoth(const Pipe& out, const Pipe& err, const Ending& ending, ChildOutcome& outcome)
{
    bool isOutOpen = true;
    bool isErrOpen = true;
    while (isOutOpen || isErrOpen) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(ending.deadline - Clock::now())
                .count();
        if (left <= 0 || ending.job.stopRequested()) return false;
        std::array<pollfd, 2> polled{pollfd{isOutOpen ? out.reader() : -1, POLLIN, 0},
                                     pollfd{isErrOpen ? err.reader() : -1, POLLIN, 0}};
        if (::poll(polled.data(), polled.size(),
                   static_cast<int>(std::min<int64_t>(left, kPollMs))) < 0 &&
            errno != EINTR)
            return false;
        if (polled[0].revents != 0) isOutOpen = out.drain(outcome.output);
        if (polled[1].revents != 0) isErrOpen = err.drain(outcome.errors);
        if (outcome.errors.size() > 4 * kErrorTail)
            outcome.errors.erase(0, outcome.errors.size() - kErrorTail);
    }
    return true;
}

} // namespace

core::Result<ChildOutcome> runSelf(const std::vector<std::string>& arguments,
                                   std::chrono::seconds timeout, const core::JobContext& job)
{
    Pipe out;
    Pipe err;
    if (out.reader() < 0 || err.reader() < 0)
        return core::makeError(core::DiagnosticCode::IoFailure, "cannot create a pipe");
    auto pid = spawnSelf(arguments, out, err);
    if (!pid) return pid.error();
    out.closeWriter();
    err.closeWriter();
    ChildOutcome outcome;
    const bool hasEnded = drainBoth(out, err, {Clock::now() + timeout, job}, outcome);
    // The whole group: servers that the child started go with it.
    ::kill(-*pid, hasEnded ? SIGTERM : SIGKILL);
    int status = 0;
    while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {}
    if (core::Status go = job.checkStop(); !go) return go.error();
    outcome.hasTimedOut = !hasEnded;
    if (WIFEXITED(status)) outcome.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status) && !outcome.hasTimedOut) outcome.signal = WTERMSIG(status);
    return outcome;
}

} // namespace tenon::cli
