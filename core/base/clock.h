// SPDX-License-Identifier: Apache-2.0
// How long something took.
#pragma once

#include <chrono>

namespace tenon::core {

/// Milliseconds from `start` to now.
inline double millisecondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

} // namespace tenon::core
