// SPDX-License-Identifier: Apache-2.0
// SSH connections to a real sshd: host keys, authentication, commands, uploads, tunnels.
#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/ssh/ssh_config.h"
#include "remote/ssh/ssh_session.h"
#include "remote/ssh/tcp.h"
#include "tests/support/sshd.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using namespace std::chrono_literals;

/// Counts its questions and gives the same answers each time.
struct Answers : SshPrompt
{
    bool accepts = false;
    std::optional<std::string> typed;
    int keyQuestions = 0;
    int secretQuestions = 0;
    bool acceptHostKey(const HostKeyQuestion&) override
    {
        ++keyQuestions;
        return accepts;
    }
    std::optional<std::string> secret(const SecretQuestion&) override
    {
        ++secretQuestions;
        return typed;
    }
};

class Ssh : public testing::Test
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL("sshd");
        TENON_NEED_TOOL("ssh-keygen");
    }
    SshAddress address(const test::Sshd& sshd) const
    {
        return {.host = "127.0.0.1", .port = sshd.port(), .identityFile = sshd.identity()};
    }
    SshOptions options()
    {
        return {.knownHostsFile = m_folder.file("known_hosts"),
                .userKnownHostsFile = m_folder.file("user_known_hosts"),
                .configFile = m_folder.file("ssh_config"),
                .prompt = &m_answers,
                .usesAgent = false,
                .timeout = 60s};
    }
    std::shared_ptr<SshSession> connected(const test::Sshd& sshd)
    {
        m_answers.accepts = true;
        const auto session = SshSession::connect(address(sshd), options(), m_job);
        EXPECT_TRUE(session) << session.error().text() << sshd.log();
        return session ? *session : nullptr;
    }
    test::TemporaryFolder m_folder;
    Answers m_answers;
    JobContext m_job;
};

TEST_F(Ssh, asksAtFirstContactAndRemembers)
{
    const test::Sshd sshd;
    const auto refused = SshSession::connect(address(sshd), options(), m_job);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, BoardCode::HostKeyUnknown);
    EXPECT_NE(refused.error().message.find(sshd.fingerprint()), std::string::npos);
    EXPECT_EQ(m_answers.keyQuestions, 1);
    EXPECT_FALSE(std::filesystem::exists(m_folder.file("known_hosts")));
    ASSERT_TRUE(connected(sshd));
    EXPECT_EQ(m_answers.keyQuestions, 2);
    ASSERT_TRUE(connected(sshd));
    EXPECT_EQ(m_answers.keyQuestions, 2);
    EXPECT_FALSE(std::filesystem::exists(m_folder.file("user_known_hosts")));
}

TEST_F(Ssh, takesAFingerprintForAnAnswer)
{
    const test::Sshd sshd;
    SshOptions scripted = options();
    scripted.prompt = nullptr;
    scripted.acceptedFingerprint = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    EXPECT_EQ(SshSession::connect(address(sshd), scripted, m_job).error().code,
              BoardCode::HostKeyUnknown);
    scripted.acceptedFingerprint = sshd.fingerprint();
    EXPECT_TRUE(SshSession::connect(address(sshd), scripted, m_job));
}

TEST_F(Ssh, refusesAChangedHostKey)
{
    const test::Sshd sshd;
    ASSERT_TRUE(connected(sshd));
    const std::string known = sshd.fingerprint();
    const std::string file = *core::readFile(m_folder.file("known_hosts"));
    sshd.changeHostKey();
    m_answers.keyQuestions = 0;
    for (int i = 0; i < 2; ++i) { // a second try changes nothing
        const auto session = SshSession::connect(address(sshd), options(), m_job);
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error().code, BoardCode::HostKeyChanged);
        EXPECT_NE(session.error().message.find(known), std::string::npos);
        EXPECT_NE(session.error().message.find(sshd.fingerprint()), std::string::npos);
    }
    EXPECT_EQ(m_answers.keyQuestions, 0);
    EXPECT_EQ(*core::readFile(m_folder.file("known_hosts")), file);
    // The user's own file counts as much as ours.
    std::filesystem::rename(m_folder.file("known_hosts"), m_folder.file("user_known_hosts"));
    EXPECT_EQ(SshSession::connect(address(sshd), options(), m_job).error().code,
              BoardCode::HostKeyChanged);
}

TEST_F(Ssh, saysWhatWasTriedWhenNoKeyFits)
{
    const test::Sshd sshd;
    const test::Sshd other;
    m_answers.accepts = true;
    SshAddress wrong = address(sshd);
    wrong.identityFile = other.identity();
    const auto session = SshSession::connect(wrong, options(), m_job);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, BoardCode::AuthFailure);
    EXPECT_NE(session.error().message.find(other.identity()), std::string::npos);
    wrong.identityFile = sshd.folder() + "/sshd_config";
    const auto noKey = SshSession::connect(wrong, options(), m_job);
    ASSERT_FALSE(noKey);
    EXPECT_NE(noKey.error().message.find("not a readable private key"), std::string::npos);
}

TEST_F(Ssh, refusesAWrongPasswordAndNeverWritesItDown)
{
    const test::Sshd sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n"
                          "KbdInteractiveAuthentication no\nLogLevel DEBUG3\n");
    m_answers.accepts = true;
    m_answers.typed = "canary-5f1c";
    const auto session = SshSession::connect(address(sshd), options(), m_job);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, BoardCode::AuthFailure);
    EXPECT_NE(session.error().message.find("password"), std::string::npos);
    EXPECT_GE(m_answers.secretQuestions, 1);
    EXPECT_EQ(session.error().text().find("canary"), std::string::npos);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(m_folder.path())) {
        if (!entry.is_regular_file()) continue;
        EXPECT_EQ(core::readFile(entry.path().string())->find("canary"), std::string::npos);
    }
    m_answers.typed = std::nullopt; // the user gives up
    EXPECT_EQ(SshSession::connect(address(sshd), options(), m_job).error().code,
              BoardCode::AuthFailure);
}

TEST_F(Ssh, saysWhyNobodyAnswers)
{
    SshAddress nowhere{.host = "no-such-host.invalid", .port = 22};
    EXPECT_EQ(SshSession::connect(nowhere, options(), m_job).error().code,
              BoardCode::BoardUnreachable);
    // A port that was just ours: nothing listens there.
    int port = 0;
    {
        const test::Sshd sshd;
        port = sshd.port();
    }
    const auto refused = SshSession::connect({.host = "127.0.0.1", .port = port}, options(), m_job);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, BoardCode::BoardUnreachable);
    EXPECT_NE(refused.error().message.find("refuses"), std::string::npos);
    // Something listens, but says nothing at all.
    test::Sshd silent;
    silent.stall();
    SshOptions hasty = options();
    hasty.timeout = 300ms;
    const auto late = SshSession::connect(address(silent), hasty, m_job);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, BoardCode::ConnectTimedOut);
    JobContext stopped;
    stopped.requestStop();
    EXPECT_EQ(SshSession::connect(address(silent), options(), stopped).error().code,
              DiagnosticCode::Cancelled);
}

TEST_F(Ssh, runsCommands)
{
    const test::Sshd sshd;
    const auto session = connected(sshd);
    ASSERT_TRUE(session);
    const std::string input(3'000'000, 'x');
    const auto exit =
        session->run("wc -c; echo oops >&2; exit 3", std::as_bytes(std::span(input)), 60s, m_job);
    ASSERT_TRUE(exit) << exit.error().text();
    EXPECT_EQ(exit->status, 3);
    EXPECT_EQ(core::trimmed(exit->output), "3000000");
    EXPECT_EQ(exit->errors, "oops\n");
    const auto killed = session->run("kill -9 $$", {}, 60s, m_job);
    ASSERT_TRUE(killed) << killed.error().text();
    EXPECT_EQ(killed->status, -1);
    EXPECT_EQ(session->run("sleep 100", {}, 100ms, m_job).error().code, DiagnosticCode::TimedOut);
    JobContext job;
    std::jthread stop([&] {
        std::this_thread::sleep_for(50ms);
        job.requestStop();
    });
    EXPECT_EQ(session->run("sleep 100", {}, 60s, job).error().code, DiagnosticCode::Cancelled);
    EXPECT_TRUE(session->isAlive());
}

TEST_F(Ssh, carriesBytesThroughATunnel)
{
    const test::Sshd sshd;
    const auto session = connected(sshd);
    ASSERT_TRUE(session);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const std::jthread echo([&] { // sends back what it gets, until the end
        const int fd = accept(listener, nullptr, nullptr);
        char block[4096];
        for (ssize_t got; (got = read(fd, block, sizeof block)) > 0;)
            if (write(fd, block, static_cast<size_t>(got)) != got) break;
        close(fd);
    });
    const auto fd = session->openTunnel(ntohs(address.sin_port), 60s, m_job);
    ASSERT_TRUE(fd) << fd.error().text();
    const std::string sent(2'000'000, 'z');
    std::jthread writer([&] {
        for (size_t at = 0; at < sent.size();) {
            const ssize_t n = send(*fd, sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
            if (n <= 0) break;
            at += static_cast<size_t>(n);
        }
    });
    std::string got(sent.size(), 0);
    EXPECT_EQ(recv(*fd, got.data(), got.size(), MSG_WAITALL), static_cast<ssize_t>(got.size()));
    EXPECT_TRUE(got == sent);
    close(*fd);
    close(listener);
    EXPECT_FALSE(session->openTunnel(1, 60s, m_job)); // nothing listens on port 1
}

TEST_F(Ssh, opensAsManyDescriptorsAsItCloses)
{
    const auto count = [] {
        size_t open = 0;
        for ([[maybe_unused]] const auto& each :
             std::filesystem::directory_iterator("/proc/self/fd"))
            ++open;
        return open;
    };
    size_t before = 0;
    {
        const test::Sshd warmUp;
        connected(warmUp);
    }
    std::filesystem::remove(m_folder.file("known_hosts"));
    before = count();
    {
        const test::Sshd sshd;
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(connected(sshd)->run("true", {}, 60s, m_job));
    }
    EXPECT_EQ(count(), before);
}

TEST(SshConfig, readsFourKeywordsAndObeysNothingElse)
{
    const std::string config = "User everyone\n"
                               "# comment\n"
                               "Host pi !pi2 lab-*\n"
                               "  HostName 192.168.1.7\n  Port=2222\n"
                               "  IdentityFile \"~/keys/pi key\"\n"
                               "  ProxyCommand touch /tmp/owned\n"
                               "Match exec \"touch /tmp/owned\"\n  User nobody\n  Port 1\n"
                               "Host *\n  User late\n  Port 99\n  HostName %h\n";
    const SshAddress pi = applySshConfig(config, {.host = "pi"});
    EXPECT_EQ(pi.host, "192.168.1.7");
    EXPECT_EQ(pi.port, 2222);
    EXPECT_EQ(pi.user, "everyone");
    EXPECT_EQ(pi.identityFile, homeFolder() + "/keys/pi key");
    EXPECT_EQ(applySshConfig(config, {.host = "lab-3"}).host, "192.168.1.7");
    const SshAddress other = applySshConfig(config, {.host = "other", .port = 5, .user = "me"});
    EXPECT_EQ(other.host, "other");
    EXPECT_EQ(other.port, 5);
    EXPECT_EQ(other.user, "me");
    EXPECT_TRUE(applySshConfig("Port 99999999\nPort x\nPort\n", {.host = "a"}).port == 0);
}

} // namespace
} // namespace tenon::remote
