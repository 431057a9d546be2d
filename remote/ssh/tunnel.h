// SPDX-License-Identifier: Apache-2.0
// Carries bytes between a local socket and a channel until either side ends.
#pragma once

#include "remote/ssh/ssh_transport.h"

namespace tenon::remote {

/// Takes over both; returns when the socket or channel has ended or the transport is cut.
void pumpTunnel(SshTransport& transport, ssh_channel channel, int fd);

} // namespace tenon::remote
