// SPDX-License-Identifier: Apache-2.0
// The way to a board without an operating system at the end of a serial line: its flash command
// brings images, and the server in them is driven over the line.
#pragma once

#include "remote/deploy/board_link.h"

namespace tenon::remote {

/// Errors: BoardFailure for a port that cannot be opened.
core::Result<std::unique_ptr<BoardLink>> openSerialLink(const LinkRequest& request);

/// The shell's line that brings `image` to the board.
std::string flashCommand(const Board& board, const std::string& image);

} // namespace tenon::remote
