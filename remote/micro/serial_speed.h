// SPDX-License-Identifier: Apache-2.0
// Speeds of serial lines as termios knows them.
#pragma once

#include "core/base/result.h"

#include <termios.h>

namespace tenon::remote {

/// Error BadArgument with the speeds that there are.
core::Result<speed_t> serialSpeed(int baud);
core::Status checkSerialSpeed(int baud);

} // namespace tenon::remote
