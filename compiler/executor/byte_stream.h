// SPDX-License-Identifier: Apache-2.0
// ByteStream: little-endian writer of TVM's stream format (numbers, strings, vectors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// Appends to a byte string; every multi-byte number is little-endian.
class ByteStream
{
public:
    template <class T>
    ByteStream& number(T value)
    {
        static_assert(std::is_integral_v<T>);
        const auto bits = static_cast<uint64_t>(value);
        for (size_t i = 0; i < sizeof(T); ++i)
            m_bytes.push_back(static_cast<char>((bits >> (8 * i)) & 0xff));
        return *this;
    }
    ByteStream& raw(std::span<const std::byte> bytes)
    {
        m_bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return *this;
    }
    ByteStream& raw(std::string_view bytes)
    {
        m_bytes.append(bytes);
        return *this;
    }
    /// u64 length and the characters.
    ByteStream& string(std::string_view text) { return number<uint64_t>(text.size()).raw(text); }
    /// u64 count and each string.
    ByteStream& strings(const std::vector<std::string>& texts)
    {
        number<uint64_t>(texts.size());
        for (const std::string& text : texts) string(text);
        return *this;
    }
    /// u64 count and each number as u64.
    ByteStream& words(const std::vector<uint64_t>& values)
    {
        number<uint64_t>(values.size());
        for (const uint64_t value : values) number(value);
        return *this;
    }

    const std::string& bytes() const { return m_bytes; }

private:
    std::string m_bytes;
};

} // namespace tenon::compiler
