// SPDX-License-Identifier: Apache-2.0
// FlatOut: flatbuffer tables for tests, written parents first: a table, then what its fields refer
// to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::test {

class FlatOut
{
public:
    template <class T>
    FlatOut& number(int field, T value)
    {
        Field& out = m_fields[field];
        out.size = sizeof(T);
        std::memcpy(out.value, &value, sizeof(T));
        return *this;
    }
    FlatOut& string(int field, const std::string& text);
    FlatOut& table(int field, FlatOut child);
    FlatOut& tables(int field, std::vector<FlatOut> children);
    template <class T>
    FlatOut& numbers(int field, const std::vector<T>& values)
    {
        const auto raw = std::as_bytes(std::span(values));
        return bytes(field, {raw.begin(), raw.end()}, values.size());
    }

    /// The whole file, with the four characters of its kind.
    std::vector<std::byte> file(const std::string& identifier) const;

private:
    struct Field
    {
        size_t size = 0;      ///< of a number; 0: refers to something
        std::byte value[8]{}; ///< of a number
        size_t count = 0;     ///< of a vector
        std::vector<std::byte> bytes;
        std::vector<FlatOut> children;
        bool isVector = false, isText = false;
    };

    FlatOut& bytes(int field, std::vector<std::byte> values, size_t count);
    size_t write(std::vector<std::byte>& out) const;
    static size_t writeReferred(const Field& field, std::vector<std::byte>& out);

    std::map<int, Field> m_fields;
};

} // namespace tenon::test
