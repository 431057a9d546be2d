// SPDX-License-Identifier: Apache-2.0
// Tables, vectors and strings of a flatbuffer.
#include "tests/support/flat_writer.h"

namespace tenon::test {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& out, size_t at, T value)
{
    std::memcpy(out.data() + at, &value, sizeof(T));
}

void align(Bytes& out, size_t to, size_t ahead = 0)
{
    while ((out.size() + ahead) % to != 0) out.push_back(std::byte{0});
}

} // namespace

FlatOut& FlatOut::string(int field, const std::string& text)
{
    const auto raw = std::as_bytes(std::span(text));
    bytes(field, {raw.begin(), raw.end()}, text.size());
    m_fields[field].isText = true;
    return *this;
}

FlatOut& FlatOut::bytes(int field, Bytes values, size_t count)
{
    Field& out = m_fields[field];
    out.bytes = std::move(values);
    out.count = count;
    out.isVector = true;
    return *this;
}

FlatOut& FlatOut::table(int field, FlatOut child)
{
    m_fields[field].children.push_back(std::move(child));
    return *this;
}

FlatOut& FlatOut::tables(int field, std::vector<FlatOut> children)
{
    Field& out = m_fields[field];
    out.count = children.size();
    out.children = std::move(children);
    out.isVector = true;
    return *this;
}

size_t FlatOut::writeReferred(const Field& field, Bytes& out)
{
    if (!field.isVector) return field.children[0].write(out);
    align(out, 16, 4); // as buffers of weights want it
    const size_t at = out.size();
    out.resize(at + 4);
    put(out, at, static_cast<uint32_t>(field.count));
    out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    if (field.isText) out.push_back(std::byte{0});
    const size_t places = out.size();
    out.resize(places + 4 * field.children.size());
    for (size_t i = 0; i < field.children.size(); ++i) {
        const size_t place = places + 4 * i;
        const size_t child = field.children[i].write(out);
        put(out, place, static_cast<uint32_t>(child - place));
    }
    return at;
}

size_t FlatOut::write(Bytes& out) const
{
    const size_t slots = m_fields.empty() ? 0 : static_cast<size_t>(m_fields.rbegin()->first) + 1;
    align(out, 8);
    const size_t places = out.size();
    out.resize(places + 4 + 2 * slots);
    align(out, 8);
    const size_t table = out.size();
    out.resize(table + 4 + 4 + 8 * m_fields.size());
    put(out, table, static_cast<int32_t>(table - places));
    put(out, places, static_cast<uint16_t>(4 + 2 * slots));
    put(out, places + 2, static_cast<uint16_t>(out.size() - table));
    uint16_t offset = 8; // each field takes eight bytes, whatever it is
    for (const auto& [number, field] : m_fields) {
        put(out, places + 4 + 2 * static_cast<size_t>(number), offset);
        const size_t at = table + offset;
        offset = static_cast<uint16_t>(offset + 8);
        if (field.size > 0) {
            std::memcpy(out.data() + at, field.value, field.size);
            continue;
        }
        const size_t target = writeReferred(field, out);
        put(out, at, static_cast<uint32_t>(target - at));
    }
    return table;
}

Bytes FlatOut::file(const std::string& identifier) const
{
    Bytes out(8);
    std::memcpy(out.data() + 4, identifier.data(), 4);
    put(out, 0, static_cast<uint32_t>(write(out)));
    return out;
}

} // namespace tenon::test
