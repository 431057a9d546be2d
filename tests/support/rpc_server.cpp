// SPDX-License-Identifier: Apache-2.0
// A listening tenon-rpc-server as a process of its own.
#include "tests/support/rpc_server.h"

#include "core/base/program_files.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

extern char** environ;

namespace tenon::test {

RpcServer::RpcServer(const std::vector<std::string>& arguments)
{
    const std::string program = core::siblingProgram("tenon-rpc-server");
    std::vector<std::string> command{program, "--port", "0"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : command) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    setenv("TMPDIR", m_folder.path().c_str(), 1);
    EXPECT_EQ(posix_spawn(&m_pid, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    unsetenv("TMPDIR");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    m_out = ends[0];
    m_greeting = nextLine();
    const size_t colon = m_greeting.rfind(':');
    EXPECT_NE(colon, std::string::npos) << m_greeting;
    if (colon != std::string::npos) m_port = std::atoi(m_greeting.c_str() + colon + 1);
}

RpcServer::~RpcServer()
{
    stop(SIGTERM);
    close(m_out);
}

std::string RpcServer::nextLine()
{
    std::string line;
    pollfd entry{m_out, POLLIN, 0};
    for (char byte = 0; poll(&entry, 1, 60'000) > 0 && read(m_out, &byte, 1) == 1;) {
        if (byte == '\n') return line;
        line.push_back(byte);
    }
    return "";
}

int RpcServer::stop(int signal)
{
    int status = 0;
    if (m_pid <= 0) return status;
    kill(m_pid, signal);
    waitpid(std::exchange(m_pid, -1), &status, 0);
    return status;
}

namespace {

/// The parent of each process that has not ended.
std::map<pid_t, pid_t> processes()
{
    std::map<pid_t, pid_t> parents;
    std::error_code gone; // processes end while we look
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        std::ifstream in(entry.path() / "stat");
        const std::string text((std::istreambuf_iterator<char>(in)), {});
        const size_t end = text.rfind(')');
        char state = 0;
        int parent = 0;
        const bool isKnown = end != std::string::npos &&
                             std::sscanf(text.c_str() + end + 1, " %c %d", &state, &parent) == 2;
        if (isKnown && state != 'Z') parents[pid] = parent;
    }
    return parents;
}

std::vector<pid_t> processesBelow(pid_t top)
{
    const std::map<pid_t, pid_t> parents = processes();
    std::vector<pid_t> out;
    for (const auto& [pid, parent] : parents) {
        pid_t at = parent;
        while (at > 1 && at != top && parents.contains(at)) at = parents.at(at);
        if (at == top) out.push_back(pid);
    }
    return out;
}

} // namespace

std::vector<pid_t> RpcServer::processesBelow() const
{
    // A process that gets another parent while we look would seem to be nobody's.
    std::vector<pid_t> out = test::processesBelow(m_pid);
    for (std::vector<pid_t> again; (again = test::processesBelow(m_pid)) != out;)
        out = std::move(again);
    return out;
}

void RpcServer::signalAll(int signal) const
{
    kill(m_pid, signal);
    for (const pid_t pid : processesBelow()) kill(pid, signal);
}

size_t RpcServer::filesLeft() const
{
    size_t count = 0;
    std::error_code gone; // a folder that goes while we look leaves nothing to count
    std::vector<std::string> folders{m_folder.path()};
    while (!folders.empty()) {
        const std::string folder = std::exchange(folders.back(), {});
        folders.pop_back();
        std::filesystem::directory_iterator at(folder, gone);
        for (; !gone && at != std::filesystem::directory_iterator(); at.increment(gone)) {
            ++count;
            if (at->is_directory(gone)) folders.push_back(at->path().string());
        }
    }
    return count;
}

} // namespace tenon::test
