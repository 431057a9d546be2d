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

using FlexLists = std::map<std::string, std::vector<int32_t>>;

/// A map of floats and of lists of integers: the lists, keys, their places, values, types, and the
/// root; everything 4 bytes wide.
inline FlexBytes flexMap(const std::map<std::string, float>& values, const FlexLists& lists = {})
{
    constexpr uint8_t kFloat = 3 << 2 | 2, kMap = 9 << 2 | 2, kIntList = 11 << 2 | 2;
    FlexBytes out;
    std::map<std::string, uint32_t> keys; ///< of both, sorted; where each stands
    std::map<std::string, uint32_t> starts;
    for (const auto& [key, list] : lists) {
        appendWord(out, static_cast<uint32_t>(list.size()));
        starts[key] = static_cast<uint32_t>(out.size());
        for (const int32_t element : list) appendWord(out, static_cast<uint32_t>(element));
        keys[key];
    }
    for (const auto& [key, value] : values) keys[key];
    for (auto& [key, place] : keys) {
        place = static_cast<uint32_t>(out.size());
        out.insert(out.end(), key.begin(), key.end());
        out.push_back(0);
    }
    const auto count = static_cast<uint32_t>(keys.size());
    appendWord(out, count);
    const auto first = static_cast<uint32_t>(out.size());
    for (const auto& [key, place] : keys)
        appendWord(out, static_cast<uint32_t>(out.size()) - place);
    appendWord(out, static_cast<uint32_t>(out.size()) - first);
    appendWord(out, 4);
    appendWord(out, count);
    const auto map = static_cast<uint32_t>(out.size());
    FlexBytes types;
    for (const auto& [key, place] : keys) {
        const bool isList = starts.contains(key);
        uint32_t bits = isList ? static_cast<uint32_t>(out.size()) - starts[key] : 0;
        if (!isList) std::memcpy(&bits, &values.at(key), 4);
        appendWord(out, bits);
        types.push_back(isList ? kIntList : kFloat);
    }
    out.insert(out.end(), types.begin(), types.end());
    appendWord(out, static_cast<uint32_t>(out.size()) - map);
    out.push_back(kMap);
    out.push_back(4);
    return out;
}

} // namespace tenon::test
