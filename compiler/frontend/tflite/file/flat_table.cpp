// SPDX-License-Identifier: Apache-2.0
// Checked access to the tables and vectors of a flatbuffer.
#include "compiler/frontend/tflite/file/flat_table.h"

namespace tenon::compiler {
namespace {

/// Files share short vectors and strings now and then; beyond this it is no exporter's work.
constexpr uint64_t kShared = 8;
constexpr uint64_t kLeast = 1 << 16;

} // namespace

FlatBytes::FlatBytes(std::span<const std::byte> bytes)
    : m_bytes(bytes)
    , m_budget(kShared * bytes.size() + kLeast)
{
}

void FlatBytes::fail(const std::string& what) const
{
    if (m_error.empty()) m_error = what;
}

bool FlatBytes::holds(uint64_t at, uint64_t size) const
{
    if (at <= m_bytes.size() && size <= m_bytes.size() - at) return true;
    fail(std::to_string(size) + " bytes at " + std::to_string(at) + " are outside of the file of " +
         std::to_string(m_bytes.size()) + " bytes");
    return false;
}

bool FlatBytes::spend(uint64_t count) const
{
    if (count <= m_budget) {
        m_budget -= count;
        return true;
    }
    fail("its tables refer to one another so often that they would not fit the memory");
    return false;
}

FlatTable FlatBytes::root() const
{
    const uint32_t at = number<uint32_t>(0);
    return isBroken() ? FlatTable() : FlatTable(*this, at);
}

bool FlatBytes::hasIdentifier(std::string_view identifier) const
{
    return m_bytes.size() >= 8 && identifier.size() == 4 &&
           std::memcmp(m_bytes.data() + 4, identifier.data(), 4) == 0;
}

FlatTable::FlatTable(const FlatBytes& file, uint64_t at)
{
    if (!file.holds(at, 4) || !file.spend(1)) return;
    const int64_t fields = static_cast<int64_t>(at) - file.number<int32_t>(at);
    if (fields < 0 || !file.holds(static_cast<uint64_t>(fields), 4)) {
        file.fail("the table at " + std::to_string(at) + " has its places outside of the file");
        return;
    }
    m_fields = static_cast<uint64_t>(fields);
    m_fieldBytes = file.number<uint16_t>(m_fields);
    m_bytes = file.number<uint16_t>(m_fields + 2);
    if (m_fieldBytes < 4 || m_bytes < 4 || !file.holds(m_fields, m_fieldBytes) ||
        !file.holds(at, m_bytes)) {
        file.fail("the table at " + std::to_string(at) + " is cut off");
        return;
    }
    m_at = at;
    m_file = &file;
}

uint64_t FlatTable::place(int field, uint64_t size) const
{
    if (!m_file || m_file->isBroken()) return 0;
    const uint64_t entry = 4 + 2 * static_cast<uint64_t>(field);
    if (entry + 2 > m_fieldBytes) return 0;
    const uint16_t offset = m_file->number<uint16_t>(m_fields + entry);
    if (offset == 0) return 0;
    if (offset + size > m_bytes) {
        m_file->fail("field " + std::to_string(field) + " of the table at " + std::to_string(m_at) +
                     " is outside of it");
        return 0;
    }
    return m_at + offset;
}

uint64_t FlatTable::target(int field) const
{
    const uint64_t at = place(field, 4);
    if (at == 0) return 0;
    const uint32_t offset = m_file->number<uint32_t>(at);
    return m_file->holds(at + offset, 4) ? at + offset : 0;
}

FlatTable::Run FlatTable::vector(int field, uint64_t elementSize, bool isShared) const
{
    const uint64_t at = target(field);
    if (at == 0) return {};
    const Run run{at + 4, m_file->number<uint32_t>(at)};
    if (!m_file->holds(run.at, run.count * elementSize)) return {};
    if (isShared && !m_file->spend(run.count)) return {};
    return run;
}

std::string FlatTable::string(int field) const
{
    const Run run = vector(field, 1);
    if (run.count == 0) return {};
    return {reinterpret_cast<const char*>(m_file->bytes().data()) + run.at, run.count};
}

std::span<const std::byte> FlatTable::bytes(int field) const
{
    const Run run = vector(field, 1, false);
    return run.count == 0 ? std::span<const std::byte>()
                          : m_file->bytes().subspan(run.at, run.count);
}

FlatTable FlatTable::table(int field) const
{
    const uint64_t at = target(field);
    return at == 0 ? FlatTable() : FlatTable(*m_file, at);
}

std::vector<FlatTable> FlatTable::tables(int field) const
{
    std::vector<FlatTable> out;
    const Run run = vector(field, 4);
    for (uint64_t i = 0; i < run.count && !m_file->isBroken(); ++i) {
        const uint64_t at = run.at + 4 * i;
        out.emplace_back(*m_file, at + m_file->number<uint32_t>(at));
    }
    return out;
}

} // namespace tenon::compiler
