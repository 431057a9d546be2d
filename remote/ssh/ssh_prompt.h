// SPDX-License-Identifier: Apache-2.0
// What a person, or a script in his place, is asked while a connection is made.
#pragma once

#include <optional>
#include <string>

namespace tenon::remote {

/// First contact: nobody has vouched for this key yet.
struct HostKeyQuestion
{
    std::string host;        ///< "raspberry:22"
    std::string keyType;     ///< "ssh-ed25519"
    std::string fingerprint; ///< "SHA256:..."
};

struct SecretQuestion
{
    enum class Kind
    {
        Password,
        Passphrase, ///< of a key file
        Answer      ///< to what the server asks (keyboard-interactive)
    };
    Kind kind = Kind::Password;
    std::string text;        ///< "password for pi@raspberry"
    bool mayBeShown = false; ///< the server allows to show what is typed
};

/// Called on the connecting thread, which waits for the answer; others go on.
class SshPrompt
{
public:
    virtual ~SshPrompt() = default;
    /// False, the default answer, ends the attempt.
    virtual bool acceptHostKey(const HostKeyQuestion& question) = 0;
    /// Nothing: the user gave up. Answers are wiped after use and never stored.
    virtual std::optional<std::string> secret(const SecretQuestion& question) = 0;
};

/// Says no to everything: for work without a person.
class NoPrompt : public SshPrompt
{
public:
    bool acceptHostKey(const HostKeyQuestion&) override { return false; }
    std::optional<std::string> secret(const SecretQuestion&) override { return std::nullopt; }
};

} // namespace tenon::remote
