// SPDX-License-Identifier: Apache-2.0
// Moving values between two buffers that order them differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::compiler {

/// One axis of a box of values: how many, and what a step along it is on either side, in elements.
struct BoxAxis
{
    int64_t extent;
    int64_t from;
    int64_t to;
};

/// Copies the box whose first value is at `from`; elements take 1, 2, 4 or 8 bytes and lie where
/// such elements may. What is written is not read.
void copyBox(std::vector<BoxAxis> axes, const std::byte* from, std::byte* to, int64_t bytes);

} // namespace tenon::compiler
