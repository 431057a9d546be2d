// SPDX-License-Identifier: Apache-2.0
// A real sshd for tests, in inetd mode behind a relay of ours.
#include "tests/support/sshd.h"

#include "tests/support/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace tenon::test {
namespace {

int runProgram(const std::vector<std::string>& command)
{
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t pid = -1;
    int status = -1;
    if (posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

void makeKey(const std::string& path, const std::string& type = "ed25519",
             const std::string& passphrase = {})
{
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".pub");
    EXPECT_EQ(runProgram({"ssh-keygen", "-q", "-t", type, "-N", passphrase, "-f", path}), 0);
}

std::string content(const std::string& path)
{
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

/// Moves what there is; the number of bytes, 0 at the end, -1 when one side broke.
ssize_t move(int from, int to, size_t atMost)
{
    std::array<char, 65536> block;
    const ssize_t got = recv(from, block.data(), std::min(block.size(), atMost), 0);
    for (ssize_t at = 0; at < got;) {
        const ssize_t sent =
            send(to, block.data() + at, static_cast<size_t>(got - at), MSG_NOSIGNAL);
        if (sent <= 0) return -1;
        at += sent;
    }
    return got;
}

} // namespace

Sshd::Sshd(const std::string& config)
    : Sshd(Setup{.config = config})
{
}

Sshd::Sshd(Setup setup)
    : m_setup(std::move(setup))
{
    if (geteuid() == 0) mkdir("/run/sshd", 0755);
    makeKey(identity());
    makeKey(m_folder.file("host_key"));
    std::filesystem::copy_file(identity() + ".pub", m_folder.file("authorized_keys"));
    std::ofstream(m_folder.file("sshd_config"))
        << m_setup.config << "\nHostKey " << m_folder.file("host_key")
        << "\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n"
        << "AuthorizedKeysFile " << m_folder.file("authorized_keys") << "\nPrintMotd no\n";
    const std::string dropbearKey = m_folder.file("dropbear_key");
    if (m_setup.isDropbear) {
        EXPECT_EQ(runProgram({"dropbearkey", "-t", "ed25519", "-f", dropbearKey}), 0);
    }
    m_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(m_listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(m_listener, 16), 0);
    getsockname(m_listener, reinterpret_cast<sockaddr*>(&address), &size);
    m_port = ntohs(address.sin_port);
    m_server = std::jthread([this] { serve(); });
}

Sshd::~Sshd()
{
    signalAll(SIGCONT); // a stopped one would be waited for without end
    m_isEnding = true;
    m_server.join();
    m_relays.clear();
    close(m_listener);
}

std::string Sshd::log() const
{
    return content(m_folder.file("sshd.log")) + content(m_folder.file("stderr"));
}

void Sshd::changeHostKey() const { makeKey(m_folder.file("host_key")); }

std::string Sshd::addIdentity(const std::string& type, const std::string& passphrase) const
{
    const std::string path = m_folder.file("id_" + type);
    makeKey(path, type, passphrase);
    std::ofstream(m_folder.file("authorized_keys"), std::ios::app) << content(path + ".pub");
    return path;
}

std::string Sshd::fingerprint() const
{
    const std::string out = m_folder.file("fingerprint");
    const std::string key = m_setup.isDropbear
                                ? "dropbearkey -y -f '" + m_folder.file("dropbear_key") +
                                      "' | grep ^ssh- | ssh-keygen -l -f -"
                                : "ssh-keygen -l -f '" + m_folder.file("host_key.pub") + "'";
    EXPECT_EQ(runProgram({"sh", "-c", key + " > '" + out + "'"}), 0);
    const std::string line = content(out);
    const size_t start = line.find("SHA256:");
    return line.substr(start, line.find(' ', start) - start);
}

pid_t Sshd::spawnServer(int socket) const
{
    std::vector<std::string> command{
        toolPath("sshd"),         "-i", "-f", m_folder.file("sshd_config"), "-E",
        m_folder.file("sshd.log")};
    if (m_setup.isDropbear)
        command = {toolPath("dropbear"), "-i", "-r", m_folder.file("dropbear_key")};
    if (!m_setup.before.empty())
        command.insert(command.begin(),
                       {"unshare", "-m", "sh", "-c", m_setup.before + "\nexec \"$0\" \"$@\""});
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, 0);
    posix_spawn_file_actions_adddup2(&actions, socket, 1);
    posix_spawn_file_actions_addopen(&actions, 2, m_folder.file("stderr").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

void Sshd::serve()
{
    while (!m_isEnding) {
        pollfd entry{m_listener, POLLIN, 0};
        if (poll(&entry, 1, 50) <= 0) continue;
        const int client = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        ++m_connections;
        m_relays.emplace_back([this, client] { relay(client); });
    }
}

void Sshd::relay(int client)
{
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t pid = spawnServer(ends[1]);
    close(ends[1]);
    {
        const std::scoped_lock lock(m_serversMutex);
        m_servers.insert(pid);
    }
    bool isOpen = true;
    int64_t own = 0; // bytes of this connection to the server
    while (isOpen && !m_isEnding) {
        std::array<pollfd, 2> entries{pollfd{client, POLLIN, 0}, pollfd{ends[0], POLLIN, 0}};
        if (m_isStalled || own >= m_stallAfter) {
            poll(nullptr, 0, 20);
            continue;
        }
        if (poll(entries.data(), entries.size(), 50) <= 0 || m_isStalled) continue;
        const int64_t left = m_cutAfter - m_toServer;
        if (left <= 0) break;
        if (entries[0].revents != 0) {
            const int64_t most = std::min<int64_t>({left, m_stallAfter - own, 65536});
            const ssize_t moved = move(client, ends[0], static_cast<size_t>(most));
            isOpen = moved > 0;
            own += std::max<ssize_t>(0, moved);
            m_toServer += std::max<ssize_t>(0, moved);
        }
        if (isOpen && entries[1].revents != 0) isOpen = move(ends[0], client, 65536) > 0;
    }
    close(client);
    close(ends[0]);
    // Without its connection sshd ends by itself; what it started may take a moment longer.
    for (;; poll(nullptr, 0, 10)) {
        const std::scoped_lock lock(m_serversMutex);
        if (waitpid(pid, nullptr, WNOHANG) == 0) continue;
        m_servers.erase(pid);
        return;
    }
}

void Sshd::signalAll(int signal)
{
    const std::scoped_lock lock(m_serversMutex);
    for (const pid_t server : m_servers) {
        const std::vector<pid_t> below = descendantsOf(server);
        kill(server, signal);
        for (const pid_t pid : below) kill(pid, signal);
        if (signal != SIGKILL) continue;
        // Whoever inherits them lets go of their numbers when it likes; a board without power has
        // none of them.
        for (const pid_t pid : below)
            for (int i = 0; i < 6000 && kill(pid, 0) == 0; ++i) poll(nullptr, 0, 10);
    }
}

} // namespace tenon::test
