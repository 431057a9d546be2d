// SPDX-License-Identifier: Apache-2.0
// FlatBytes and FlatTable: a flatbuffer read in place. Every access is checked against the file;
// the first that is outside sticks as an error and reads as absent, so readers are straight lines.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

class FlatTable;

class FlatBytes
{
public:
    explicit FlatBytes(std::span<const std::byte> bytes);

    /// The table at the file's start; `identifier` are the four characters behind its offset.
    FlatTable root() const;
    bool hasIdentifier(std::string_view identifier) const;

    size_t size() const { return m_bytes.size(); }
    std::span<const std::byte> bytes() const { return m_bytes; }
    bool isBroken() const { return !m_error.empty(); }
    const std::string& error() const { return m_error; }
    void fail(const std::string& what) const;

    /// A little-endian number at `at`; 0 when that is outside.
    template <class T>
    T number(uint64_t at) const
    {
        T value{};
        if (!holds(at, sizeof(T))) return value;
        std::memcpy(&value, m_bytes.data() + at, sizeof(T));
        return value;
    }
    bool holds(uint64_t at, uint64_t size) const;
    /// What `count` elements cost: tables that many offsets share are read again and again, so all
    /// that is ever read is limited by the size of the file.
    bool spend(uint64_t count) const;

private:
    std::span<const std::byte> m_bytes;
    mutable std::string m_error;
    mutable uint64_t m_budget;
};

/// A table of fields by their number in the schema; an absent one has its default.
class FlatTable
{
public:
    FlatTable() = default;
    FlatTable(const FlatBytes& file, uint64_t at);

    bool isPresent() const { return m_file != nullptr; }

    template <class T>
    T number(int field, T fallback = {}) const
    {
        const uint64_t at = place(field, sizeof(T));
        return at == 0 ? fallback : m_file->number<T>(at);
    }
    bool has(int field) const { return place(field, 1) != 0; }
    std::string string(int field) const;
    FlatTable table(int field) const;
    std::vector<FlatTable> tables(int field) const;
    /// Elements of a vector of numbers, converted.
    template <class T, class Out>
    std::vector<Out> numbers(int field) const
    {
        std::vector<Out> out;
        const Run run = vector(field, sizeof(T));
        out.reserve(run.count);
        for (uint64_t i = 0; i < run.count; ++i)
            out.push_back(static_cast<Out>(m_file->number<T>(run.at + i * sizeof(T))));
        return out;
    }
    std::vector<int64_t> integers(int field) const { return numbers<int32_t, int64_t>(field); }
    /// The bytes of a vector of bytes, in place.
    std::span<const std::byte> bytes(int field) const;

private:
    struct Run
    {
        uint64_t at = 0;
        uint64_t count = 0;
    };
    /// Where the field lies; 0 when it is absent.
    uint64_t place(int field, uint64_t size) const;
    /// Where the field's offset leads; 0 when it is absent.
    uint64_t target(int field) const;
    Run vector(int field, uint64_t elementSize, bool isShared = true) const;

    const FlatBytes* m_file = nullptr;
    uint64_t m_at = 0;
    uint64_t m_fields = 0; ///< the table of places
    uint16_t m_fieldBytes = 0;
    uint16_t m_bytes = 0;
};

} // namespace tenon::compiler
