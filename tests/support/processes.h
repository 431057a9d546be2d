// SPDX-License-Identifier: Apache-2.0
// Processes that a test's own have started.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tenon::test {

/// Processes below `top` that have not ended, whoever started them.
std::vector<pid_t> descendantsOf(pid_t top);

} // namespace tenon::test
