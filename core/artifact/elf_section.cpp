// SPDX-License-Identifier: Apache-2.0
// ELF section look-up for both classes; every offset is checked against the file.
#include "core/artifact/elf_section.h"

#include "core/base/text.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::core {
namespace {

/// Little-endian numbers at checked offsets; nothing outside the file is ever touched.
class Bytes
{
public:
    explicit Bytes(std::span<const std::byte> file)
        : m_file(file)
    {
    }

    std::optional<uint64_t> number(uint64_t offset, unsigned size) const
    {
        if (offset > m_file.size() || size > m_file.size() - offset) return std::nullopt;
        uint64_t value = 0;
        for (unsigned i = 0; i < size; ++i)
            value |= static_cast<uint64_t>(m_file[offset + i]) << (8 * i);
        return value;
    }
    std::optional<std::span<const std::byte>> range(uint64_t offset, uint64_t size) const
    {
        if (offset > m_file.size() || size > m_file.size() - offset) return std::nullopt;
        return m_file.subspan(offset, size);
    }

private:
    std::span<const std::byte> m_file;
};

struct Section
{
    uint64_t name = 0;
    uint64_t type = 0;
    uint64_t flags = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
};
constexpr uint64_t kTypeWithoutContent = 8; ///< SHT_NOBITS
constexpr uint64_t kFlagAllocated = 2;      ///< SHF_ALLOC

struct SectionTable
{
    Bytes bytes;
    bool is64;
    uint64_t start;
    uint64_t entryBytes;
    uint64_t count;
    uint64_t nameSection;

    std::optional<Section> at(uint64_t index) const
    {
        const unsigned word = is64 ? 8 : 4;
        uint64_t entry = 0;
        if (index >= count || __builtin_mul_overflow(index, entryBytes, &entry) ||
            __builtin_add_overflow(entry, start, &entry))
            return std::nullopt;
        const auto name = bytes.number(entry, 4);
        const auto type = bytes.number(entry + 4, 4);
        const auto flags = bytes.number(entry + 8, word);
        const auto offset = bytes.number(entry + (is64 ? 24 : 16), word);
        const auto size = bytes.number(entry + (is64 ? 32 : 20), word);
        if (!name || !type || !flags || !offset || !size) return std::nullopt;
        return Section{*name, *type, *flags, *offset, *size};
    }
};

Diagnostic bad(const std::string& what) { return makeError(DiagnosticCode::BadArtifact, what); }

Result<SectionTable> readTable(Bytes bytes)
{
    const auto magic = bytes.number(0, 4);
    const auto fileClass = bytes.number(4, 1);
    const auto order = bytes.number(5, 1);
    if (magic != 0x464c457fu || !order) return bad("this is no ELF file");
    if (*order != 1 || (*fileClass != 1 && *fileClass != 2))
        return bad("this ELF file is not little-endian");
    const bool is64 = *fileClass == 2;
    const auto start = bytes.number(is64 ? 40 : 32, is64 ? 8 : 4);
    const auto entryBytes = bytes.number(is64 ? 58 : 46, 2);
    const auto count = bytes.number(is64 ? 60 : 48, 2);
    const auto nameSection = bytes.number(is64 ? 62 : 50, 2);
    if (!start || !entryBytes || !count || !nameSection) return bad("the ELF header ends early");
    if (!bytes.range(*start, *entryBytes * *count))
        return bad("the ELF file is cut off: its table of sections, " +
                   std::to_string(*entryBytes * *count) + " bytes at " + std::to_string(*start) +
                   ", is not in it");
    return SectionTable{bytes, is64, *start, *entryBytes, *count, *nameSection};
}

bool isNamed(std::span<const std::byte> names, uint64_t offset, std::string_view name)
{
    if (offset > names.size() || names.size() - offset <= name.size()) return false;
    for (size_t i = 0; i < name.size(); ++i)
        if (names[offset + i] != static_cast<std::byte>(name[i])) return false;
    return names[offset + name.size()] == std::byte{0};
}

/// "" where the name lies outside the names.
std::string nameAt(std::span<const std::byte> names, uint64_t offset)
{
    std::string name;
    for (uint64_t i = offset; i < names.size() && names[i] != std::byte{0}; ++i)
        name += static_cast<char>(names[i]);
    return name;
}

/// Calls `take(section)` with each that is marked for allocation.
template <class Take>
Status forEachLoaded(std::span<const std::byte> file, const SectionTable& table, const Take& take)
{
    const Bytes bytes(file);
    for (uint64_t i = 0; i < table.count; ++i) {
        const auto section = table.at(i);
        if (!section) return bad("the ELF section table ends early");
        if ((section->flags & kFlagAllocated) == 0) continue;
        if (section->type != kTypeWithoutContent && !bytes.range(section->offset, section->size))
            return bad("an ELF section lies outside the file");
        if (section->size > (uint64_t{1} << 40)) return bad("an ELF section is larger than a TiB");
        take(*section);
    }
    return kDone;
}

} // namespace

Result<std::span<const std::byte>> findElfSection(std::span<const std::byte> file,
                                                  std::string_view name)
{
    const Bytes bytes(file);
    const Result<SectionTable> table = readTable(bytes);
    if (!table) return table.error();
    const auto nameSection = table->at(table->nameSection);
    if (!nameSection) return bad("the ELF file has no section names");
    const auto names = bytes.range(nameSection->offset, nameSection->size);
    if (!names) return bad("the ELF section names lie outside the file");
    for (uint64_t i = 0; i < table->count; ++i) {
        const auto section = table->at(i);
        if (!section) return bad("the ELF section table ends early");
        if (!isNamed(*names, section->name, name)) continue;
        const auto content = bytes.range(section->offset, section->size);
        if (!content) return bad("section " + core::quoted(name) + " lies outside the file");
        return *content;
    }
    return bad("there is no section " + core::quoted(name));
}

Result<LoadedBytes> loadedBytes(std::span<const std::byte> file)
{
    const Result<SectionTable> table = readTable(Bytes(file));
    if (!table) return table.error();
    LoadedBytes loaded;
    const Status read = forEachLoaded(file, *table, [&](const Section& section) {
        const bool isZeroed = section.type == kTypeWithoutContent;
        (isZeroed ? loaded.zeroed : loaded.stored) += static_cast<int64_t>(section.size);
    });
    if (!read) return read.error();
    return loaded;
}

Result<std::map<std::string, int64_t>> storedSections(std::span<const std::byte> file)
{
    const Bytes bytes(file);
    const Result<SectionTable> table = readTable(bytes);
    if (!table) return table.error();
    const auto nameSection = table->at(table->nameSection);
    const auto names = nameSection ? bytes.range(nameSection->offset, nameSection->size)
                                   : std::optional<std::span<const std::byte>>();
    if (!names) return bad("the ELF file has no section names");
    std::map<std::string, int64_t> stored;
    const Status read = forEachLoaded(file, *table, [&](const Section& section) {
        if (section.type == kTypeWithoutContent) return;
        stored[nameAt(*names, section.name)] += static_cast<int64_t>(section.size);
    });
    if (!read) return read.error();
    return stored;
}

} // namespace tenon::core
