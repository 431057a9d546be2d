// SPDX-License-Identifier: Apache-2.0
// Proving to a verified host who the user is: agent, keys, then what he types.
#pragma once

#include "remote/ssh/ssh_session.h"
#include "remote/ssh/ssh_transport.h"

namespace tenon::remote {

/// `address` is complete. Errors: AuthFailure with what was tried, Cancelled, TimedOut, LinkLost.
core::Status authenticate(SshTransport& transport, const SshAddress& address,
                          const SshOptions& options, Deadline& deadline);

} // namespace tenon::remote
