// SPDX-License-Identifier: Apache-2.0
// Options of a custom operator as a flexbuffer.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace tenon::test {

using FlexBytes = std::vector<uint8_t>;

inline void appendWord(FlexBytes& out, uint32_t value)
{
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// A map of floats: keys, their places, values, types, and the root; everything 4 bytes wide.
inline FlexBytes flexMap(const std::map<std::string, float>& values)
{
    constexpr uint8_t kFloat = 3 << 2 | 2, kMap = 9 << 2 | 2;
    FlexBytes out;
    std::vector<uint32_t> places;
    for (const auto& [key, value] : values) {
        places.push_back(static_cast<uint32_t>(out.size()));
        out.insert(out.end(), key.begin(), key.end());
        out.push_back(0);
    }
    appendWord(out, static_cast<uint32_t>(values.size()));
    const auto keys = static_cast<uint32_t>(out.size());
    for (const uint32_t place : places) appendWord(out, static_cast<uint32_t>(out.size()) - place);
    appendWord(out, static_cast<uint32_t>(out.size()) - keys);
    appendWord(out, 4);
    appendWord(out, static_cast<uint32_t>(values.size()));
    const auto map = static_cast<uint32_t>(out.size());
    for (const auto& [key, value] : values) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, 4);
        appendWord(out, bits);
    }
    out.insert(out.end(), values.size(), kFloat);
    appendWord(out, static_cast<uint32_t>(out.size()) - map);
    out.push_back(kMap);
    out.push_back(4);
    return out;
}

} // namespace tenon::test
