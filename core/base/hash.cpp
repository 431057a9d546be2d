// SPDX-License-Identifier: Apache-2.0
// Two multiply-rotate lanes over 8-byte words with a strong final mix (constants: digits of pi,
// golden ratio).
#include "core/base/hash.h"

#include <bit>
#include <cstring>

namespace tenon::core {
namespace {

uint64_t avalanche(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}

} // namespace

void Hasher::mix(uint64_t word)
{
    m_a = std::rotl((m_a ^ word) * 0x9e3779b97f4a7c15ull, 29) + m_b;
    m_b = std::rotl((m_b + word) * 0xc2b2ae3d27d4eb4full, 31) ^ m_a;
}

Hasher& Hasher::add(std::string_view bytes)
{
    const char* p = bytes.data();
    size_t left = bytes.size();
    for (; left >= 8; p += 8, left -= 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        mix(word);
    }
    uint64_t tail = 0;
    if (left > 0) std::memcpy(&tail, p, left);
    mix(tail);
    mix(bytes.size()); // length-prefixed parts: "ab"+"c" differs from "a"+"bc"
    m_length += bytes.size();
    return *this;
}

Hasher& Hasher::add(uint64_t value)
{
    mix(value);
    m_length += 8;
    return *this;
}

Hash128 Hasher::finish() const
{
    const uint64_t low = avalanche(m_a ^ m_length);
    return {low, avalanche(m_b + low)};
}

std::string Hash128::hex() const
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out(32, '0');
    for (int i = 0; i < 16; ++i) {
        out[static_cast<size_t>(15 - i)] = kDigits[(high >> (4 * i)) & 15];
        out[static_cast<size_t>(31 - i)] = kDigits[(low >> (4 * i)) & 15];
    }
    return out;
}

Hash128 hashBytes(std::string_view bytes) { return Hasher().add(bytes).finish(); }

} // namespace tenon::core
