// SPDX-License-Identifier: Apache-2.0
// A real SSH server for tests, one process per connection, on a loopback port of our own: no port
// is ever guessed, and the test holds both ends of each connection.
#pragma once

#include "tests/support/environment.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {

/// What the tests of a folder share: an identity, a host key and a home.
class Sshd
{
public:
    struct Setup
    {
        /// Lines for the front of sshd_config, where the first value of a keyword counts.
        std::string config;
        /// Shell commands that each server's process runs before it becomes the server, in mounts
        /// of its own when it is not empty: only root may.
        std::string before;
        bool isDropbear = false;
    };
    explicit Sshd(const std::string& config = {});
    explicit Sshd(Setup setup);
    Sshd(const Sshd&) = delete;
    Sshd& operator=(const Sshd&) = delete;
    ~Sshd();

    int port() const { return m_port; }
    std::string folder() const { return m_folder.path(); }
    std::string identity() const { return m_folder.file("id"); }
    /// Log of all connections so far.
    std::string log() const;
    /// A new host key from the next connection on.
    void changeHostKey() const;
    /// One more key that lets in; its file.
    std::string addIdentity(const std::string& type, const std::string& passphrase) const;
    std::string fingerprint() const;
    /// Cuts every connection, also later ones, once this many bytes went to the server; 0: at once.
    void cutAfter(int64_t bytes) { m_cutAfter = bytes; }
    /// Lets nothing through any more, without a word: a cable pulled out.
    void stall() { m_isStalled = true; }
    /// The same to each connection once this many of its bytes went to the server.
    void stallAfter(int64_t bytes) { m_stallAfter = bytes; }
    size_t connections() const { return m_connections; }
    /// To the servers of all open connections and everything below them: SIGKILL is a power cut,
    /// SIGSTOP a system that hangs.
    void signalAll(int signal);

private:
    void serve();
    void relay(int client);
    int spawnServer(int socket) const;

    Setup m_setup;
    TemporaryFolder m_folder;
    int m_listener = -1;
    int m_port = 0;
    std::atomic<bool> m_isEnding{false};
    std::atomic<bool> m_isStalled{false};
    std::atomic<int64_t> m_stallAfter{INT64_MAX};
    std::atomic<int64_t> m_cutAfter{INT64_MAX};
    std::atomic<int64_t> m_toServer{0};
    std::atomic<size_t> m_connections{0};
    std::mutex m_serversMutex;
    std::set<int> m_servers; ///< processes, one for each open connection
    std::vector<std::jthread> m_relays;
    std::jthread m_server;
};

} // namespace tenon::test
