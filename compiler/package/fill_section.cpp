// SPDX-License-Identifier: Apache-2.0
// The section stands last in its segment, so its bytes are inserted into the file behind those of
// the segment. Whatever follows moves by a multiple of the largest page, which keeps every address
// as it was linked.
#include "compiler/package/fill_section.h"

#include "core/base/text.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

/// What 64-bit Linux maps as one page when the address and the offset in the file allow it. Kernels
/// that read megabytes of weights wait less for where these are: 5 % of 512 channels at 7 x 7.
constexpr uint64_t kLargePage = uint64_t{2} << 20;

struct Elf32
{
    using File = Elf32_Ehdr;
    using Segment = Elf32_Phdr;
    using Section = Elf32_Shdr;
};

struct Elf64
{
    using File = Elf64_Ehdr;
    using Segment = Elf64_Phdr;
    using Section = Elf64_Shdr;
};

/// What to insert where.
struct Insertion
{
    uint64_t at = 0;    ///< offset in the linked file
    uint64_t lead = 0;  ///< zeros in front of the section
    uint64_t bytes = 0; ///< the section
    uint64_t total = 0; ///< with zeros in front and behind
};

core::Diagnostic unexpected(const std::string& what)
{
    return core::makeError(core::DiagnosticCode::LinkFailure,
                           "the linked library is not as expected: " + what);
}

/// Records of a table inside the file, changed in place.
template <class Record>
class Table
{
public:
    static std::optional<Table> of(std::string& file, uint64_t start, uint64_t count)
    {
        if (start > file.size() || count > (file.size() - start) / sizeof(Record))
            return std::nullopt;
        return Table(file.data() + start, count);
    }
    uint64_t count() const { return m_count; }
    Record at(uint64_t index) const
    {
        Record record;
        std::memcpy(&record, m_start + index * sizeof record, sizeof record);
        return record;
    }
    void set(uint64_t index, const Record& record)
    {
        std::memcpy(m_start + index * sizeof record, &record, sizeof record);
    }

private:
    Table(char* start, uint64_t count)
        : m_start(start)
        , m_count(count)
    {
    }
    char* m_start;
    uint64_t m_count;
};

/// The headers of one library.
template <class Elf>
class Library
{
public:
    explicit Library(std::string& file)
        : m_file(file)
    {
    }

    /// Nothing to insert when there is no such section.
    core::Result<Insertion> makeRoom(const std::string& name, uint64_t size)
    {
        typename Elf::File header;
        if (m_file.size() < sizeof header) return unexpected("it has no header");
        std::memcpy(&header, m_file.data(), sizeof header);
        auto segments = Table<typename Elf::Segment>::of(m_file, header.e_phoff, header.e_phnum);
        auto sections = Table<typename Elf::Section>::of(m_file, header.e_shoff, header.e_shnum);
        if (!segments || !sections || header.e_shstrndx >= sections->count())
            return unexpected("its tables lie outside the file");
        const auto index = find(*sections, header.e_shstrndx, name);
        if (!index) return Insertion{};
        auto section = sections->at(*index);
        if (section.sh_type != SHT_NOBITS || section.sh_size != size)
            return unexpected(core::quoted(name) + " has " + std::to_string(section.sh_size) +
                              " bytes, not " + std::to_string(size));
        auto insertion = grow(*segments, section.sh_addr, size);
        if (!insertion) return insertion;
        for (uint64_t i = 0; i < segments->count(); ++i) {
            auto segment = segments->at(i);
            move(segment.p_offset, *insertion);
            segments->set(i, segment);
        }
        section.sh_type = SHT_PROGBITS;
        for (uint64_t i = 0; i < sections->count(); ++i) {
            auto other = i == *index ? section : sections->at(i);
            move(other.sh_offset, *insertion);
            if (i == *index) other.sh_offset = word(insertion->at + insertion->lead);
            sections->set(i, other);
        }
        move(header.e_shoff, *insertion);
        std::memcpy(m_file.data(), &header, sizeof header);
        return insertion;
    }

private:
    using Word = decltype(Elf::File::e_shoff);
    static Word word(uint64_t value) { return static_cast<Word>(value); }

    static void move(Word& offset, const Insertion& insertion)
    {
        if (offset >= insertion.at) offset = word(offset + insertion.total);
    }

    std::optional<uint64_t> find(const Table<typename Elf::Section>& sections, uint64_t namesIndex,
                                 const std::string& name) const
    {
        const uint64_t names = sections.at(namesIndex).sh_offset;
        for (uint64_t i = 0; i < sections.count(); ++i) {
            const uint64_t at = names + sections.at(i).sh_name;
            if (at < m_file.size() &&
                m_file.compare(at, name.size() + 1, name.c_str(), name.size() + 1) == 0)
                return i;
        }
        return std::nullopt;
    }

    /// The segment that ends in the section takes all its memory from the file.
    static core::Result<Insertion> grow(Table<typename Elf::Segment>& segments, uint64_t address,
                                        uint64_t size)
    {
        for (uint64_t i = 0; i < segments.count(); ++i) {
            auto segment = segments.at(i);
            const uint64_t fileEnd = uint64_t{segment.p_vaddr} + segment.p_filesz;
            if (segment.p_type != PT_LOAD || fileEnd > address ||
                uint64_t{segment.p_vaddr} + segment.p_memsz != address + size)
                continue;
            Insertion insertion{.at = uint64_t{segment.p_offset} + segment.p_filesz,
                                .lead = address - fileEnd,
                                .bytes = size};
            const uint64_t page = std::max<uint64_t>(segment.p_align, 1);
            insertion.total = (insertion.lead + size + page - 1) / page * page;
            segment.p_filesz = segment.p_memsz;
            const bool fits = (segment.p_vaddr - segment.p_offset) % kLargePage == 0;
            if (sizeof(Word) == 8 && size >= 2 * kLargePage && fits)
                segment.p_align = word(kLargePage);
            segments.set(i, segment);
            return insertion;
        }
        return unexpected("no segment ends in its constants");
    }

    std::string& m_file;
};

constexpr std::byte kZeros[4096] = {};

void addZeros(FileParts& parts, uint64_t count)
{
    for (uint64_t part = 0; count > 0; count -= part) {
        part = std::min<uint64_t>(count, sizeof kZeros);
        parts.emplace_back(kZeros, part);
    }
}

/// Zeros, the symbols where the object said they are, zeros.
void addInsertion(FileParts& parts, const Insertion& insertion, const DataSection& section)
{
    addZeros(parts, insertion.lead);
    const SectionPlan plan = planSection(section);
    uint64_t at = 0;
    for (size_t i = 0; i < section.symbols.size(); ++i) {
        const std::span<const std::byte> bytes = section.symbols[i].bytes;
        addZeros(parts, plan.starts[i] - at);
        parts.push_back(bytes);
        at = plan.starts[i] + bytes.size();
    }
    addZeros(parts, insertion.total - insertion.lead - at);
}

} // namespace

core::Result<FilledLibrary> fillSection(std::string linked, const DataSection& section)
{
    const bool is64 = linked.size() > EI_CLASS && linked[EI_CLASS] == ELFCLASS64;
    const uint64_t size = planSection(section).bytes;
    const core::Result<Insertion> room = is64 ? Library<Elf64>(linked).makeRoom(section.name, size)
                                              : Library<Elf32>(linked).makeRoom(section.name, size);
    if (!room) return room.error();
    FilledLibrary out{std::make_shared<const std::string>(std::move(linked)), {}};
    const auto file = std::as_bytes(std::span(*out.linked));
    out.parts.push_back(file.first(room->at));
    if (room->bytes > 0) addInsertion(out.parts, *room, section);
    out.parts.push_back(file.subspan(room->at));
    return out;
}

} // namespace tenon::compiler
