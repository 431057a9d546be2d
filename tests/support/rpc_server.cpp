// SPDX-License-Identifier: Apache-2.0
// A listening tenon-rpc-server as a process of its own.
#include "tests/support/rpc_server.h"

#include "core/base/program_files.h"
#include "tests/support/processes.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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
    kill(m_pid, SIGCONT); // a stopped one would never hear of it
    waitpid(std::exchange(m_pid, -1), &status, 0);
    return status;
}

void RpcServer::signalAll(int signal) const
{
    const std::vector<pid_t> below = descendantsOf(m_pid);
    kill(m_pid, signal);
    for (const pid_t pid : below) kill(pid, signal);
}

size_t RpcServer::descendants() const { return descendantsOf(m_pid).size(); }

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
