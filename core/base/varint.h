// SPDX-License-Identifier: Apache-2.0
// Protobuf's variable-length integers: seven bits a byte, lowest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tenon::core {

/// Moves `at` behind the number; nothing where it is cut off or longer than ten bytes.
inline std::optional<uint64_t> readVarint(std::span<const std::byte> bytes, size_t& at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
        const auto byte = static_cast<uint8_t>(bytes[at++]);
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
    }
    return std::nullopt;
}

inline void appendVarint(std::string& out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

} // namespace tenon::core
