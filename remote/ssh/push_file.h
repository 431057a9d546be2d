// SPDX-License-Identifier: Apache-2.0
// Sends bytes to a file of the host: aside, verified by SHA-256, then renamed into place.
#pragma once

#include "remote/ssh/ssh_session.h"

namespace tenon::remote {

/// A word for a POSIX shell that means exactly `text`.
std::string shellQuoted(const std::string& text);

/// `path` is absolute; its folder exists. `sha256` is of `bytes`, as hex. Errors: DiskFull,
/// UploadTimedOut as TimedOut, LinkLost, Cancelled, BoardFailure. No half-written file stays: one
/// is removed at once, or with its folder when the link is gone.
core::Status pushFile(SshSession& session, const std::string& path,
                      std::span<const std::byte> bytes, const std::string& sha256, int mode,
                      std::chrono::milliseconds timeout, const core::JobContext& job);

} // namespace tenon::remote
