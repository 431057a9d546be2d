// SPDX-License-Identifier: Apache-2.0
// Is this the host the user knows? Nothing is sent to it before that is settled.
#pragma once

#include "remote/ssh/ssh_session.h"
#include "remote/ssh/ssh_transport.h"

namespace tenon::remote {

/// Tells libssh which key types to ask for: those by which the host is known. Before connecting.
void preferKnownKeyTypes(ssh_session session, const SshOptions& options);

/// Compares the host's key with the user's known_hosts, the system's and ours. Unknown: the
/// accepted fingerprint or the prompt decides, and ours remembers. Errors: HostKeyUnknown,
/// HostKeyChanged with both fingerprints, IoFailure.
core::Status verifyHostKey(SshTransport& transport, const SshOptions& options, Deadline& deadline);

/// "SHA256:..." of a key.
std::string fingerprintOf(ssh_key key);

} // namespace tenon::remote
