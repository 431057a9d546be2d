// SPDX-License-Identifier: Apache-2.0
// Questions of a connection, asked on the terminal. Without a terminal every answer is no.
#pragma once

#include "remote/ssh/ssh_prompt.h"

namespace tenon::cli {

/// Speaks with the terminal itself, not with stdin: what is typed can neither come from a pipe nor
/// end in a log.
class TerminalPrompt : public remote::SshPrompt
{
public:
    bool acceptHostKey(const remote::HostKeyQuestion& question) override;
    std::optional<std::string> secret(const remote::SecretQuestion& question) override;
};

} // namespace tenon::cli
