// SPDX-License-Identifier: Apache-2.0
// The way to a board without an operating system that is emulated here: one emulator for each run.
#pragma once

#include "remote/deploy/board_link.h"

namespace tenon::remote {

/// Errors: UnsupportedFeature naming the missing emulator.
core::Result<std::unique_ptr<BoardLink>> openMicroLink(const LinkRequest& request);

} // namespace tenon::remote
