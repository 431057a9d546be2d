// SPDX-License-Identifier: Apache-2.0
// Aliases of the user's ssh configuration: four keywords are read, everything else is not obeyed.
#pragma once

#include "remote/ssh/ssh_session.h"

#include <string>
#include <string_view>

namespace tenon::remote {

/// `address` completed by HostName, User, Port and IdentityFile of the first matching entries.
/// ProxyCommand, Match, Include and the rest are skipped: no file makes Tenon start a program.
SshAddress applySshConfig(std::string_view config, SshAddress address);

/// The same with the file's text (a missing file is an empty one), then the usual values: port 22,
/// this user.
SshAddress completeAddress(const SshAddress& address, const std::string& configFile);

/// The user's home folder.
std::string homeFolder();

} // namespace tenon::remote
