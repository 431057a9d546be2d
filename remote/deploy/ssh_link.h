// SPDX-License-Identifier: Apache-2.0
// The way to a board by SSH: nothing is expected there but a POSIX shell.
#pragma once

#include "remote/deploy/board_link.h"

namespace tenon::remote {

core::Result<std::unique_ptr<BoardLink>> openSshLink(const LinkRequest& request,
                                                     const core::JobContext& job);

} // namespace tenon::remote
