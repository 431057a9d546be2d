// SPDX-License-Identifier: Apache-2.0
// Proving to a verified host who the user is.
#include "remote/ssh/ssh_auth.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/ssh/ssh_config.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

namespace {

constexpr int kTypingAttempts = 3;

/// What was tried and is still allowed, as an attempt goes on.
class Attempt
{
public:
    Attempt(SshTransport& transport, const SshAddress& address, const SshOptions& options,
            Deadline& deadline)
        : m_transport(transport)
        , m_address(address)
        , m_options(options)
        , m_deadline(deadline)
    {
    }
    Status run();

private:
    Result<int> status(const std::function<int()>& attempt);
    Result<bool> step(const std::function<int()>& attempt);
    Result<bool> tryNone();
    Result<bool> tryAgent();
    Result<bool> tryKeys();
    Result<bool> tryKey(const std::string& path);
    Result<bool> tryQuestions();
    Result<int> answerQuestions();
    Result<bool> tryPassword();
    std::optional<std::string> ask(const SecretQuestion& question);
    bool allows(int method) const { return (m_methods & method) != 0; }
    core::Diagnostic refused();
    static int passphrase(const char*, char* buffer, size_t size, int, int, void* self);

    SshTransport& m_transport;
    const SshAddress& m_address;
    const SshOptions& m_options;
    Deadline& m_deadline;
    int m_methods = 0;
    std::vector<std::string> m_tried;
    std::string m_keyFile;
};

void wipe(std::string& secret)
{
    explicit_bzero(secret.data(), secret.size());
    secret.clear();
}

std::string who(const SshTransport& transport) { return core::quoted(transport.peer()); }

/// Authentication has a word of its own for "call again".
Result<int> Attempt::status(const std::function<int()>& attempt)
{
    return m_transport.retry(
        [&] {
            const int status = attempt();
            return status == SSH_AUTH_AGAIN ? SSH_AGAIN : status;
        },
        m_deadline);
}

/// True when this got the user in, false when something else must be tried.
Result<bool> Attempt::step(const std::function<int()>& attempt)
{
    const Result<int> status = this->status(attempt);
    if (!status) return status.error();
    if (*status == SSH_AUTH_ERROR && !m_transport.isAlive()) return m_transport.lost();
    return *status == SSH_AUTH_SUCCESS;
}

std::optional<std::string> Attempt::ask(const SecretQuestion& question)
{
    if (!m_options.prompt) return std::nullopt;
    const auto asked = std::chrono::steady_clock::now();
    std::optional<std::string> answer = m_options.prompt->secret(question);
    m_deadline.extend(std::chrono::steady_clock::now() - asked);
    return answer;
}

Result<bool> Attempt::tryNone()
{
    Result<bool> isIn = step([&] { return ssh_userauth_none(m_transport.session(), nullptr); });
    const std::scoped_lock lock(m_transport.mutex());
    m_methods = ssh_userauth_list(m_transport.session(), nullptr);
    return isIn;
}

Result<bool> Attempt::tryAgent()
{
    m_tried.emplace_back("the agent's keys");
    return step([&] { return ssh_userauth_agent(m_transport.session(), nullptr); });
}

/// Called by libssh when a key file is encrypted.
int Attempt::passphrase(const char*, char* buffer, size_t size, int, int, void* self)
{
    auto* attempt = static_cast<Attempt*>(self);
    std::optional<std::string> answer =
        attempt->ask({.kind = SecretQuestion::Kind::Passphrase,
                      .text = "passphrase of the key " + attempt->m_keyFile});
    if (!answer || answer->size() + 1 > size) return -1;
    std::copy(answer->begin(), answer->end(), buffer);
    buffer[answer->size()] = 0;
    wipe(*answer);
    return 0;
}

Result<bool> Attempt::tryKey(const std::string& path)
{
    m_tried.push_back(path);
    m_keyFile = path;
    ssh_key key = nullptr;
    if (ssh_pki_import_privkey_file(path.c_str(), nullptr, &Attempt::passphrase, this, &key) !=
        SSH_OK) {
        m_tried.back() += " (not a readable private key)";
        return false;
    }
    const std::unique_ptr<std::remove_pointer_t<ssh_key>, void (*)(ssh_key)> owner(key,
                                                                                   ssh_key_free);
    return step([&] { return ssh_userauth_publickey(m_transport.session(), nullptr, key); });
}

Result<bool> Attempt::tryKeys()
{
    if (!m_address.identityFile.empty()) return tryKey(m_address.identityFile);
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
        const std::string path = homeFolder() + "/.ssh/" + name;
        if (access(path.c_str(), R_OK) != 0) continue;
        const Result<bool> isIn = tryKey(path);
        if (!isIn || *isIn) return isIn;
    }
    return false;
}

/// Sets an answer to each of the server's questions. Error AuthFailure when the user gave up.
Result<int> Attempt::answerQuestions()
{
    ssh_session session = m_transport.session();
    const int count = ssh_userauth_kbdint_getnprompts(session);
    for (int i = 0; i < count; ++i) {
        char echo = 0;
        const char* text = ssh_userauth_kbdint_getprompt(session, static_cast<unsigned>(i), &echo);
        std::optional<std::string> answer = ask({.kind = SecretQuestion::Kind::Answer,
                                                 .text = text ? text : "",
                                                 .mayBeShown = echo != 0});
        if (!answer) return refused();
        ssh_userauth_kbdint_setanswer(session, static_cast<unsigned>(i), answer->c_str());
        wipe(*answer);
    }
    return count;
}

Result<bool> Attempt::tryQuestions()
{
    m_tried.emplace_back("keyboard-interactive");
    for (int i = 0; i < kTypingAttempts;) {
        const Result<int> status = this->status(
            [&] { return ssh_userauth_kbdint(m_transport.session(), nullptr, nullptr); });
        if (!status) return status.error();
        if (*status == SSH_AUTH_SUCCESS) return true;
        if (*status == SSH_AUTH_INFO) {
            const Result<int> answered = answerQuestions();
            if (!answered) return answered.error();
            continue;
        }
        if (*status == SSH_AUTH_ERROR)
            return m_transport.isAlive() ? Result<bool>(false) : Result<bool>(m_transport.lost());
        ++i;
    }
    return false;
}

Result<bool> Attempt::tryPassword()
{
    m_tried.emplace_back("password");
    for (int i = 0; i < kTypingAttempts; ++i) {
        std::optional<std::string> password = ask(
            {.kind = SecretQuestion::Kind::Password, .text = "password for " + m_transport.peer()});
        if (!password) return false;
        const Result<bool> isIn = step([&] {
            return ssh_userauth_password(m_transport.session(), nullptr, password->c_str());
        });
        wipe(*password);
        if (!isIn || *isIn) return isIn;
    }
    return false;
}

core::Diagnostic Attempt::refused()
{
    std::vector<std::string> accepted;
    if (allows(SSH_AUTH_METHOD_PUBLICKEY)) accepted.emplace_back("keys");
    if (allows(SSH_AUTH_METHOD_PASSWORD)) accepted.emplace_back("passwords");
    if (allows(SSH_AUTH_METHOD_INTERACTIVE)) accepted.emplace_back("keyboard-interactive");
    return makeError(BoardCode::AuthFailure,
                     who(m_transport) + " does not let you in; tried " +
                         (m_tried.empty() ? "nothing" : core::join(m_tried, ", ")) +
                         "; it accepts " +
                         (accepted.empty() ? "nothing Tenon can do" : core::join(accepted, ", ")) +
                         "; is the user right, and is the public key in that user's "
                         "~/.ssh/authorized_keys there?");
}

Status Attempt::run()
{
    Result<bool> isIn = tryNone();
    const auto next = [&](bool applies, Result<bool> (Attempt::*method)()) {
        if (isIn && !*isIn && applies) isIn = (this->*method)();
    };
    next(allows(SSH_AUTH_METHOD_PUBLICKEY) && m_options.usesAgent, &Attempt::tryAgent);
    next(allows(SSH_AUTH_METHOD_PUBLICKEY), &Attempt::tryKeys);
    next(allows(SSH_AUTH_METHOD_INTERACTIVE) && m_options.prompt, &Attempt::tryQuestions);
    next(allows(SSH_AUTH_METHOD_PASSWORD) && m_options.prompt, &Attempt::tryPassword);
    if (!isIn) return isIn.error();
    return *isIn ? Status(core::kDone) : Status(refused());
}

} // namespace

Status authenticate(SshTransport& transport, const SshAddress& address, const SshOptions& options,
                    Deadline& deadline)
{
    return Attempt(transport, address, options, deadline).run();
}

} // namespace tenon::remote
