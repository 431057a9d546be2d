// SPDX-License-Identifier: Apache-2.0
// Runs a program of this computer to its end.
#include "remote/virtual/run_program.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Status;

namespace {

using Clock = std::chrono::steady_clock;

/// In a process group of its own, so that ending it ends all it started. -1 on failure.
pid_t spawn(const std::vector<std::string>& command, int errorsTo)
{
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errorsTo, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = -1;
    const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed == 0 ? pid : -1;
}

/// Until the pipe ends; false when the job was stopped or time ran out first.
bool collect(int fd, std::string& errors, Clock::time_point end, const core::JobContext& job)
{
    std::array<char, 4096> block;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (job.stopRequested() || left <= 0) return false;
        pollfd entry{fd, POLLIN, 0};
        if (poll(&entry, 1, static_cast<int>(std::min<int64_t>(left, 50))) <= 0) continue;
        const ssize_t got = read(fd, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        errors.append(block.data(), static_cast<size_t>(got));
    }
}

} // namespace

Status runProgram(const std::vector<std::string>& command, const core::JobContext& job,
                  std::chrono::milliseconds timeout)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return makeError(DiagnosticCode::IoFailure, "cannot create a pipe");
    const pid_t pid = spawn(command, ends[1]);
    close(ends[1]);
    std::string errors;
    const bool isWhole = pid > 0 && collect(ends[0], errors, Clock::now() + timeout, job);
    close(ends[0]);
    if (pid <= 0)
        return makeError(DiagnosticCode::IoFailure, "cannot start " + core::quoted(command[0]));
    if (!isWhole) kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (!isWhole && !job.stopRequested())
        return makeError(DiagnosticCode::TimedOut,
                         core::quoted(command[0]) + " was stopped after " +
                             std::to_string(timeout.count() / 1000) + " s");
    if (!isWhole) return makeError(DiagnosticCode::Cancelled, "cancelled");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return core::kDone;
    const std::vector<std::string> lines = core::split(core::trimmed(errors), '\n');
    return makeError(DiagnosticCode::IoFailure,
                     core::quoted(command[0]) + " failed: " + lines.back());
}

std::string findProgram(const std::string& name)
{
    const char* path = std::getenv("PATH");
    for (const std::string& folder :
         core::split(std::string(path ? path : "") + ":/usr/sbin:/sbin", ':')) {
        const std::string candidate = folder + "/" + name;
        if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

} // namespace tenon::remote
