// SPDX-License-Identifier: Apache-2.0
// One pass over the text: whole UTF-8 sequences are kept or named, single bytes escaped.
#include "core/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace tenon::core {
namespace {

std::string escaped(const char* form, unsigned value)
{
    std::array<char, 16> out;
    const int length = std::snprintf(out.data(), out.size(), form, value);
    return {out.data(), static_cast<size_t>(length)};
}

/// Length of the sequence that begins with this byte; 0: none does.
size_t sequenceLength(uint8_t first)
{
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return 2;
    if (first >= 0xe0 && first < 0xf0) return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool turnsDirection(uint32_t code)
{
    return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0x200e || code == 0x200f || code == 0x061c;
}

bool isControl(uint32_t code, LineBreaks lineBreaks)
{
    if (code == '\n') return lineBreaks == LineBreaks::Escape;
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0);
}

constexpr size_t kLongestName = 1024, kNameStart = 512, kNameEnd = 256;
constexpr size_t kLongestMessage = size_t{32} << 10;

bool continuesSequence(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

/// A name in backticks, or what stands before the next space or backtick.
std::string_view firstWord(std::string_view text)
{
    const bool isName = text.front() == '`' && text.find('`', 1) != std::string_view::npos;
    const size_t end = isName ? text.find('`', 1) + 1 : text.find_first_of(" `", 1);
    return text.substr(0, end);
}

} // namespace

std::string elided(std::string_view name)
{
    if (name.size() <= kLongestName) return std::string(name);
    size_t start = kNameStart, end = name.size() - kNameEnd;
    while (start > 0 && continuesSequence(name[start])) --start;
    while (end < name.size() && continuesSequence(name[end])) ++end;
    return std::string(name.substr(0, start)) + "... (" + std::to_string(name.size()) +
           " bytes) ..." + std::string(name.substr(end));
}

std::string elidedWords(std::string_view message)
{
    std::string out;
    while (!message.empty()) {
        if (out.size() > kLongestMessage)
            return out + " ... (" + std::to_string(message.size()) + " more bytes)";
        const std::string_view word = firstWord(message);
        out += elided(word);
        message.remove_prefix(word.size());
    }
    return out;
}

std::string printable(std::string_view text, LineBreaks lineBreaks)
{
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const auto first = static_cast<uint8_t>(text[at]);
        const size_t length = sequenceLength(first);
        const std::string_view rest = text.substr(at + 1, length == 0 ? 0 : length - 1);
        const bool isWhole = length > 0 && rest.size() == length - 1 &&
                             std::all_of(rest.begin(), rest.end(), continuesSequence);
        if (!isWhole) {
            out += escaped("\\x%02x", first);
            ++at;
            continue;
        }
        uint32_t code = length == 1 ? first : first & (0x7fu >> length);
        for (const char byte : rest) code = code << 6 | (static_cast<uint8_t>(byte) & 0x3fu);
        if (isControl(code, lineBreaks))
            out += escaped("\\x%02x", code);
        else if (turnsDirection(code))
            out += escaped("\\u%04x", code);
        else
            out += text.substr(at, length);
        at += length;
    }
    return out;
}

} // namespace tenon::core
