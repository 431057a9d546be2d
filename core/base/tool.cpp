// SPDX-License-Identifier: Apache-2.0
// A child with a pipe behind its output and nothing before its input.
#include "core/base/tool.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

extern char** environ;

namespace tenon::core {
namespace {

/// What says why: the first lines with the words of compilers and linkers, or else the last lines,
/// as `make` writes the commands before what became of them.
std::string reasonIn(const std::string& text)
{
    constexpr size_t kMost = 3;
    constexpr std::string_view kWords[] = {
        "error:",       "undefined reference", "overflowed", "will not fit", "not within region",
        "cannot find ", "not found",           "No such",    "No rule"};
    const std::vector<std::string> lines = split(trimmed(text), '\n');
    std::vector<std::string> out;
    for (const std::string& line : lines)
        if (out.size() < kMost && std::any_of(std::begin(kWords), std::end(kWords), [&](auto word) {
                return line.find(word) != std::string::npos;
            }))
            out.push_back(line);
    if (out.empty())
        out.assign(lines.end() - static_cast<std::ptrdiff_t>(std::min(kMost, lines.size())),
                   lines.end());
    return join(out, "; ");
}

/// -1 on failure.
pid_t spawn(const std::vector<std::string>& words, int outputTo)
{
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, outputTo, 1);
    posix_spawn_file_actions_adddup2(&actions, outputTo, 2);
    pid_t pid = -1;
    const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0 ? pid : -1;
}

} // namespace

bool hasTool(const std::string& name)
{
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path ? path : "/usr/bin:/bin", ':'))
        if (!folder.empty() && access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    return false;
}

Result<std::string> runTool(const std::vector<std::string>& words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return makeError(DiagnosticCode::IoFailure, "cannot create a pipe");
    const pid_t pid = spawn(words, ends[1]);
    close(ends[1]);
    std::string output;
    std::array<char, 4096> block;
    for (ssize_t got; pid > 0 && (got = read(ends[0], block.data(), block.size())) != 0;) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) output.append(block.data(), static_cast<size_t>(got));
    }
    close(ends[0]);
    if (pid <= 0)
        return makeError(DiagnosticCode::BoardFailure, "cannot run " + quoted(words.front()));
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
    return makeError(DiagnosticCode::BoardFailure,
                     quoted(words.front()) + " failed: " + reasonIn(output));
}

} // namespace tenon::core
