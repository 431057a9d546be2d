// SPDX-License-Identifier: Apache-2.0
// The way to this computer: a server child for each session.
#pragma once

#include "remote/deploy/board_link.h"

namespace tenon::remote {

std::unique_ptr<BoardLink> openLocalLink(const LinkRequest& request);

} // namespace tenon::remote
