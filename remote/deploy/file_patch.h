// SPDX-License-Identifier: Apache-2.0
// What turns one file into another, in the form runtime/rpc/patch.h applies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tenon::remote {

struct FilePatch
{
    std::string ops;
    int64_t literalBytes = 0; ///< bytes of the new file that the old one does not have
};

/// Finds blocks of `base` anywhere in `wanted`; linear time.
FilePatch makePatch(std::span<const std::byte> base, std::span<const std::byte> wanted);

} // namespace tenon::remote
