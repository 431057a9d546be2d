// SPDX-License-Identifier: Apache-2.0
// How many bytes a thread goes through where the rate of memory is wanted, not that of a cache.
#pragma once

#include <cstddef>

namespace tenon::remote {

constexpr size_t kBeyondCaches = size_t{128} << 20;

} // namespace tenon::remote
