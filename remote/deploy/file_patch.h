// SPDX-License-Identifier: Apache-2.0
// What turns one file into another, in the form runtime/rpc/patch.h applies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::remote {

/// New bytes are not copied: the file that was wanted must live as long.
struct FilePatch
{
    /// Fields of operations, each followed by a piece of the wanted file, which may be empty.
    struct Step
    {
        std::string fields;
        std::span<const std::byte> literal;
    };
    std::vector<Step> steps;
    int64_t literalBytes = 0; ///< bytes of the new file that the old one does not have

    /// All bytes of the patch but its end, in order.
    std::vector<std::span<const std::byte>> pieces() const;
};

/// Finds blocks of `base` anywhere in `wanted`; linear time.
FilePatch makePatch(std::span<const std::byte> base, std::span<const std::byte> wanted);

} // namespace tenon::remote
