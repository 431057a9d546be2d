// SPDX-License-Identifier: Apache-2.0
// 128-bit content hash for cache keys and kernel symbols; every cache hit is still verified by full
// key comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon::core {

struct Hash128
{
    uint64_t low = 0;
    uint64_t high = 0;
    friend bool operator==(const Hash128&, const Hash128&) = default;
    friend auto operator<=>(const Hash128&, const Hash128&) = default;
    std::string hex() const; ///< 32 lower-case hex digits
};

/// Streaming hasher; deterministic over platforms and runs. Not cryptographic.
class Hasher
{
public:
    Hasher& add(std::string_view bytes);
    Hasher& add(uint64_t value);
    Hash128 finish() const;

private:
    void mix(uint64_t word);
    uint64_t m_a = 0x243f6a8885a308d3ull;
    uint64_t m_b = 0x13198a2e03707344ull;
    uint64_t m_length = 0;
};

Hash128 hashBytes(std::string_view bytes);

} // namespace tenon::core
