// SPDX-License-Identifier: Apache-2.0
// Running code for other processors on this computer: user-mode emulation of the matching server.
#pragma once

#include "core/target/target.h"
#include "remote/session/local_board.h"

namespace tenon::remote {

/// The emulator with the options that give it just the target's processor: code that needs more
/// dies of SIGILL as on the board. Node for WebAssembly. Empty when the code runs here by itself.
/// Errors: UnsupportedTarget, with what to install.
core::Result<std::vector<std::string>> emulatorFor(const core::Target& target);

/// Lets the request run on this computer: for another processor it gets the emulator and the
/// board's server. Times of emulated runs say nothing about silicon.
core::Status runHere(RunRequest& request, const core::Target& target);

} // namespace tenon::remote
