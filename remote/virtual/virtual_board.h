// SPDX-License-Identifier: Apache-2.0
// A board emulated on this computer: a Debian system of another processor behind a real sshd.
#pragma once

#include "core/jobs/job.h"
#include "remote/board/board.h"
#include "remote/board/profile.h"
#include "remote/ssh/ssh_session.h"

namespace tenon::remote {

/// Makes the system of `profile` in the folder `where`: packages of Debian unpacked without running
/// their scripts, keys made on the spot. Nothing outside it and the package cache is touched.
/// Errors: UnsupportedFeature naming the missing program, IoFailure, Cancelled.
core::Result<Board> makeVirtualBoard(const std::string& name, const BoardProfile& profile,
                                     const std::string& where, const core::JobContext& job);
/// Removes what makeVirtualBoard made.
core::Status removeVirtualBoard(const Board& board);

/// How to reach it: its sshd is started by connecting and ends with the connection, so the board
/// takes no port and no process while it is not used.
core::Status prepareVirtualBoard(const Board& board, SshAddress& address, SshOptions& options);

/// A command line for `ssh` that reaches the board, to show to the user.
std::string virtualSshCommand(const Board& board);

} // namespace tenon::remote
