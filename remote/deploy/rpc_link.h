// SPDX-License-Identifier: Apache-2.0
// The way to an RPC server that already runs: at an address, or as a tracker hands it out.
#pragma once

#include "remote/deploy/board_link.h"

namespace tenon::remote {

core::Result<std::unique_ptr<BoardLink>> openRpcLink(const LinkRequest& request,
                                                     const core::JobContext& job);

} // namespace tenon::remote
