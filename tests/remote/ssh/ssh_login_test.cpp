// SPDX-License-Identifier: Apache-2.0
// Logging in to real SSH servers in each way that Tenon knows, and being refused.
#include "core/base/board_code.h"
#include "remote/ssh/ssh_session.h"
#include "tests/support/sshd.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

extern char** environ;

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::JobContext;
using namespace std::chrono_literals;

constexpr const char* kPassword = "open sesame";
/// Of that, by `openssl passwd -6`.
constexpr const char* kHash =
    "$6$tenon$3PjhUIaau/22w/eVKQRE9/L025MLUBqkZnZ2YQQlpAQKknx5t8F0iNKCzCXx"
    "uVtY0/38YfOCmwp7VaIqaqlJS1";

/// Types the same answer to everything.
struct Typist : SshPrompt
{
    std::optional<std::string> typed;
    std::vector<SecretQuestion> asked;
    bool acceptHostKey(const HostKeyQuestion&) override { return true; }
    std::optional<std::string> secret(const SecretQuestion& question) override
    {
        asked.push_back(question);
        return typed;
    }
};

class Login : public testing::Test
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL("sshd");
        TENON_NEED_TOOL("ssh-keygen");
    }
    /// Why root's password cannot be another one for a while; "" when it can.
    static std::string missingRoot()
    {
        if (geteuid() != 0) return "only root may give an sshd other accounts";
        if (std::system("unshare -m true 2>/dev/null") != 0)
            return "mounts of one's own are not allowed here";
        return "";
    }
    /// Shell commands after which root's password is kPassword, or what `hash` says.
    std::string accounts(const std::string& hash = kHash)
    {
        std::ofstream(m_folder.file("shadow")) << "root:" << hash << ":19000:0:99999:7:::\n"
                                               << "sshd:!:19000::::::\n";
        std::ofstream(m_folder.file("pam")) << "auth required pam_unix.so\n"
                                            << "account required pam_permit.so\n"
                                            << "session required pam_permit.so\n";
        return "mount --bind '" + m_folder.file("shadow") + "' /etc/shadow && mount --bind '" +
               m_folder.file("pam") + "' /etc/pam.d/sshd || exit 1";
    }
    core::Result<std::shared_ptr<SshSession>>
    connect(const test::Sshd& sshd, const std::string& identity, bool usesAgent = false)
    {
        const SshOptions options{.knownHostsFile = m_folder.file("known_hosts"),
                                 .userKnownHostsFile = m_folder.file("none"),
                                 .configFile = "none",
                                 .prompt = &m_typist,
                                 .usesAgent = usesAgent,
                                 .timeout = 120s};
        return SshSession::connect(
            {.host = "127.0.0.1", .port = sshd.port(), .identityFile = identity}, options, m_job);
    }
    void expectIn(const test::Sshd& sshd, const std::string& identity, bool usesAgent = false)
    {
        const auto session = connect(sshd, identity, usesAgent);
        ASSERT_TRUE(session) << session.error().text() << sshd.log();
        const auto exit = (*session)->run("exit 7", {}, 120s, m_job);
        ASSERT_TRUE(exit) << exit.error().text();
        EXPECT_EQ(exit->status, 7);
    }
    void expectRefused(const test::Sshd& sshd, const std::string& identity, bool usesAgent = false)
    {
        const auto session = connect(sshd, identity, usesAgent);
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error().code, BoardCode::AuthFailure) << session.error().text();
        EXPECT_EQ(session.error().message.find(kPassword), std::string::npos);
    }

    test::TemporaryFolder m_folder;
    Typist m_typist;
    JobContext m_job;
};

TEST_F(Login, worksWithAPassword)
{
    TENON_NEED(missingRoot().empty(), "root", missingRoot());
    const test::Sshd sshd(
        test::Sshd::Setup{.config = "PasswordAuthentication yes\nPubkeyAuthentication no\n"
                                    "KbdInteractiveAuthentication no\n",
                          .before = accounts()});
    m_typist.typed = kPassword;
    expectIn(sshd, "/dev/null");
    ASSERT_EQ(m_typist.asked.size(), 1u);
    EXPECT_EQ(m_typist.asked[0].kind, SecretQuestion::Kind::Password);
    EXPECT_FALSE(m_typist.asked[0].mayBeShown);
    m_typist.typed = "close sesame";
    expectRefused(sshd, "/dev/null");
    m_typist.typed = kPassword; // and afterwards the right one is as good as before
    expectIn(sshd, "/dev/null");
}

TEST_F(Login, answersTheServersQuestions)
{
    TENON_NEED(missingRoot().empty(), "root", missingRoot());
    const test::Sshd sshd(test::Sshd::Setup{
        .config = "UsePAM yes\nKbdInteractiveAuthentication yes\nPasswordAuthentication no\n"
                  "PubkeyAuthentication no\n",
        .before = accounts()});
    m_typist.typed = kPassword;
    expectIn(sshd, "/dev/null");
    ASSERT_GE(m_typist.asked.size(), 1u);
    EXPECT_EQ(m_typist.asked[0].kind, SecretQuestion::Kind::Answer);
    EXPECT_FALSE(m_typist.asked[0].mayBeShown);
    m_typist.typed = std::nullopt;
    expectRefused(sshd, "/dev/null");
}

TEST_F(Login, isRefusedForALockedAccount)
{
    TENON_NEED(missingRoot().empty(), "root", missingRoot());
    const test::Sshd sshd(
        test::Sshd::Setup{.config = "PasswordAuthentication yes\nKbdInteractiveAuthentication no\n",
                          .before = accounts("!")});
    m_typist.typed = kPassword;
    expectRefused(sshd, "/dev/null");
}

TEST_F(Login, worksWithEachTypeOfKey)
{
    const test::Sshd sshd;
    for (const char* type : {"ed25519", "ecdsa", "rsa"}) expectIn(sshd, sshd.addIdentity(type, ""));
    EXPECT_TRUE(m_typist.asked.empty());
}

TEST_F(Login, asksForThePassphraseOfAKey)
{
    const test::Sshd sshd;
    const std::string locked = sshd.addIdentity("ed25519", kPassword);
    m_typist.typed = kPassword;
    expectIn(sshd, locked);
    ASSERT_EQ(m_typist.asked.size(), 1u);
    EXPECT_EQ(m_typist.asked[0].kind, SecretQuestion::Kind::Passphrase);
    m_typist.typed = "close sesame";
    expectRefused(sshd, locked);
}

TEST_F(Login, neverWaitsForGoodWhereverTheServerFallsSilent)
{
    // The whole conversation up to a login is about 3 kB long on our side.
    constexpr int kPoints = 14;
    constexpr int64_t kStepBytes = 200;
    std::atomic<int> lost{0};
    std::vector<std::jthread> clients;
    for (int point = 0; point < kPoints; ++point)
        clients.emplace_back([&lost, point] {
            test::Sshd sshd;
            sshd.stallAfter(point * kStepBytes);
            const SshOptions options{.userKnownHostsFile = sshd.folder() + "/none",
                                     .configFile = "none",
                                     .acceptedFingerprint = sshd.fingerprint(),
                                     .usesAgent = false,
                                     .timeout = 2s};
            const JobContext job;
            const SshAddress address{
                .host = "127.0.0.1", .port = sshd.port(), .identityFile = sshd.identity()};
            const auto session = SshSession::connect(address, options, job);
            if (session) return;
            EXPECT_EQ(session.error().code, BoardCode::ConnectTimedOut) << session.error().text();
            ++lost;
        });
    clients.clear();
    EXPECT_GE(lost, kPoints / 2);
}

/// An agent on a socket of its own, named in the environment while it lives.
class Agent
{
public:
    explicit Agent(const std::string& socket)
    {
        std::vector<std::string> command{"ssh-agent", "-D", "-a", socket};
        std::vector<char*> argv;
        for (std::string& word : command) argv.push_back(word.data());
        argv.push_back(nullptr);
        EXPECT_EQ(posix_spawnp(&m_pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
        setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
        const auto isThere = [] { // and listens; 1: it has no keys
            return WEXITSTATUS(std::system("ssh-add -l > /dev/null 2>&1")) == 1;
        };
        for (int i = 0; i < 6000 && !isThere(); ++i) std::this_thread::sleep_for(10ms);
    }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;
    ~Agent()
    {
        unsetenv("SSH_AUTH_SOCK");
        kill(m_pid, SIGTERM);
        while (waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {}
    }

private:
    pid_t m_pid = -1;
};

TEST_F(Login, worksWithAnAgent)
{
    TENON_NEED_TOOL("ssh-agent");
    const test::Sshd sshd;
    const Agent agent(m_folder.file("agent"));
    expectRefused(sshd, "/dev/null", true); // it has no key yet
    ASSERT_EQ(std::system(("ssh-add -q '" + sshd.identity() + "'").c_str()), 0);
    expectIn(sshd, "/dev/null", true);
    expectRefused(sshd, "/dev/null", false); // told not to ask it
    EXPECT_TRUE(m_typist.asked.empty());
}

TEST_F(Login, survivesALargeBanner)
{
    std::ofstream(m_folder.file("banner")) << std::string(100'000, 'b');
    std::ofstream(m_folder.file("huge")) << std::string(1'000'000, 'b');
    const test::Sshd polite("Banner " + m_folder.file("banner") + "\n");
    expectIn(polite, polite.identity());
    // More than a packet may hold: whatever the two sides make of it, it ends with an answer.
    const test::Sshd rude("Banner " + m_folder.file("huge") + "\n");
    const auto session = connect(rude, rude.identity());
    EXPECT_TRUE(session || !session.error().message.empty());
}

TEST_F(Login, worksWithDropbear)
{
    TENON_NEED_TOOL("dropbear");
    TENON_NEED_TOOL("dropbearkey");
    TENON_NEED(missingRoot().empty(), "root", missingRoot());
    const std::string home = m_folder.file("home");
    std::filesystem::create_directories(home + "/.ssh");
    std::ofstream(m_folder.file("passwd")) << "root:x:0:0:root:" << home << ":/bin/sh\n";
    const test::Sshd server(test::Sshd::Setup{.before = accounts() + "\nmount --bind '" +
                                                        m_folder.file("passwd") +
                                                        "' /etc/passwd || exit 1",
                                              .isDropbear = true});
    std::filesystem::copy_file(server.identity() + ".pub", home + "/.ssh/authorized_keys");
    std::filesystem::permissions(home + "/.ssh", std::filesystem::perms::owner_all);
    expectIn(server, server.identity());
    m_typist.typed = kPassword;
    expectIn(server, "/dev/null");
    EXPECT_FALSE(m_typist.asked.empty());
}

} // namespace
} // namespace tenon::remote
