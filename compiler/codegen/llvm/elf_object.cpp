// SPDX-License-Identifier: Apache-2.0
// Writes ELF32 and ELF64 relocatable objects with read-only data sections.
#include "compiler/codegen/llvm/elf_object.h"

#include "compiler/codegen/llvm/glue.h"
#include "compiler/executor/byte_stream.h"
#include "core/base/text.h"
#include "core/target/ignored_options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tenon::compiler {
namespace {

constexpr uint32_t kProgbits = 1;
constexpr uint32_t kSymtab = 2;
constexpr uint32_t kStrtab = 3;
constexpr uint32_t kNobits = 8;
constexpr uint64_t kAlloc = 2;
constexpr uint64_t kFileHeaderBytes64 = 64;
constexpr uint64_t kFileHeaderBytes32 = 52;

uint64_t roundedUp(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/// Offsets and sizes are words of the class: 8 or 4 bytes.
void word(ByteStream& out, bool is64, uint64_t value)
{
    if (is64)
        out.number(value);
    else
        out.number(static_cast<uint32_t>(value));
}

struct SectionHeader
{
    uint32_t name = 0;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t link = 0;
    uint32_t info = 0;
    uint64_t alignment = 1;
    uint64_t entryBytes = 0;
};

void writeSectionHeader(ByteStream& out, bool is64, const SectionHeader& header)
{
    out.number(header.name).number(header.type);
    word(out, is64, header.flags);
    word(out, is64, 0); // address
    word(out, is64, header.offset);
    word(out, is64, header.size);
    out.number(header.link).number(header.info);
    word(out, is64, header.alignment);
    word(out, is64, header.entryBytes);
}

void writeFileHeader(ByteStream& out, ElfMachine machine, uint64_t sectionTable, uint16_t sections)
{
    out.raw(std::string_view("\x7f"
                             "ELF"));
    out.number(uint8_t(machine.is64 ? 2 : 1)).number(uint8_t{1}).number(uint8_t{1});
    out.raw(std::string_view("\0\0\0\0\0\0\0\0\0", 9));
    out.number(uint16_t{1}).number(machine.machine).number(uint32_t{1}); // relocatable
    word(out, machine.is64, 0);                                          // entry
    word(out, machine.is64, 0);                                          // program headers
    word(out, machine.is64, sectionTable);
    out.number(machine.flags);
    out.number(uint16_t(machine.is64 ? kFileHeaderBytes64 : kFileHeaderBytes32));
    out.number(uint16_t{0}).number(uint16_t{0}); // program headers
    out.number(uint16_t(machine.is64 ? 64 : 40)).number(sections);
    out.number(static_cast<uint16_t>(sections - 1)); // names are the last section
}

struct SymbolEntry
{
    uint32_t name = 0;
    uint8_t visibility = 0;
    uint16_t section = 0;
    uint64_t value = 0;
    uint64_t size = 0;
};

void writeSymbol(ByteStream& out, bool is64, const SymbolEntry& symbol)
{
    constexpr uint8_t kGlobalObject = (1 << 4) | 1;
    const uint8_t kind = symbol.section == 0 ? 0 : kGlobalObject;
    out.number(symbol.name);
    if (is64) out.number(kind).number(symbol.visibility).number(symbol.section);
    word(out, is64, symbol.value);
    word(out, is64, symbol.size);
    if (!is64) out.number(kind).number(symbol.visibility).number(symbol.section);
}

/// Bytes of the file in order: what to write after which padding.
struct Piece
{
    uint64_t offset;
    std::span<const std::byte> bytes;
};

struct Layout
{
    std::vector<Piece> pieces;
    std::vector<SectionHeader> headers;
    std::vector<SymbolEntry> symbols;
    std::string names{'\0'};
    uint64_t end = 0;

    uint32_t addName(std::string_view name)
    {
        const auto at = static_cast<uint32_t>(names.size());
        names += name;
        names += '\0';
        return at;
    }
};

void layOutSection(Layout& layout, const DataSection& section)
{
    const SectionPlan plan = planSection(section);
    SectionHeader header{.name = layout.addName(section.name),
                         .type = section.isReserved ? kNobits : kProgbits,
                         .flags = kAlloc,
                         .offset = roundedUp(layout.end, section.alignment),
                         .size = plan.bytes,
                         .alignment = section.alignment};
    const auto index = static_cast<uint16_t>(layout.headers.size());
    for (size_t i = 0; i < section.symbols.size(); ++i) {
        const DataSymbol& symbol = section.symbols[i];
        layout.symbols.push_back(
            {.name = layout.addName(symbol.name),
             .visibility = uint8_t(symbol.reach == SymbolReach::Hidden ? 2 : 0),
             .section = index,
             .value = plan.starts[i],
             .size = symbol.bytes.size()});
        if (!section.isReserved)
            layout.pieces.push_back({header.offset + plan.starts[i], symbol.bytes});
    }
    layout.end = header.offset + (section.isReserved ? 0 : header.size);
    layout.headers.push_back(header);
}

core::Diagnostic ioError(const std::string& path)
{
    return core::makeError(core::DiagnosticCode::IoFailure,
                           "cannot write " + core::quoted(path) + ": " + std::strerror(errno));
}

core::Status writePieces(const std::string& path, const std::vector<Piece>& pieces)
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                               &std::fclose);
    if (!file) return ioError(path);
    static constexpr char kZeros[4096] = {};
    uint64_t at = 0;
    for (const Piece& piece : pieces) {
        CHECK(piece.offset >= at && piece.offset - at <= sizeof kZeros) << "gap in the object";
        if (std::fwrite(kZeros, 1, piece.offset - at, file.get()) != piece.offset - at)
            return ioError(path);
        if (std::fwrite(piece.bytes.data(), 1, piece.bytes.size(), file.get()) !=
            piece.bytes.size())
            return ioError(path);
        at = piece.offset + piece.bytes.size();
    }
    if (std::fflush(file.get()) != 0) return ioError(path);
    return core::kDone;
}

} // namespace

core::Result<ElfMachine> ElfMachine::of(const std::string& triple)
{
    const std::string arch(architectureOf(triple));
    const auto has = [&](std::string_view word) { return triple.find(word) != std::string::npos; };
    if (has("apple") || has("macos") || has("darwin"))
        return core::makeError(core::DiagnosticCode::UnsupportedTarget,
                               "no library is linked for " + core::quoted(triple) + ": " +
                                   std::string(core::kNoAppleLibraries) +
                                   "; --emit asm shows the kernels",
                               {.detail = "mtriple"});
    if (has("windows"))
        return core::makeError(core::DiagnosticCode::UnsupportedTarget,
                               "no library can be linked for " + core::quoted(triple) + " yet",
                               {.detail = "mtriple"});
    if (arch == "x86_64") return ElfMachine{.machine = 62};
    if (arch == "aarch64" || arch == "arm64") return ElfMachine{.machine = 183};
    if (arch == "riscv64") return ElfMachine{.machine = 243, .flags = 0x5}; // lp64d, compressed
    if (arch.starts_with("arm") || arch.starts_with("thumb"))
        return ElfMachine{.machine = 40, .flags = 0x05000000, .is64 = false};
    // The linker keeps the newest version that an input says, and data says none.
    if (arch == "hexagon") return ElfMachine{.machine = 164, .is64 = false};
    if (arch == "i686" || arch == "i386") return ElfMachine{.machine = 3, .is64 = false};
    return core::makeError(core::DiagnosticCode::UnsupportedTarget,
                           "no library can be linked for " + core::quoted(triple) +
                               "; ELF for x86_64, aarch64, arm, riscv64 and i686 is supported",
                           {.detail = "mtriple"});
}

core::Status writeDataObject(const std::string& path, ElfMachine machine,
                             const std::vector<DataSection>& sections)
{
    const bool is64 = machine.is64;
    Layout layout;
    layout.end = is64 ? kFileHeaderBytes64 : kFileHeaderBytes32;
    layout.headers.emplace_back(); // index 0 is the empty section
    layout.symbols.emplace_back(); // and symbol 0 the empty symbol
    for (const DataSection& section : sections) layOutSection(layout, section);
    // Says that the library needs no executable stack.
    layout.headers.push_back(
        {.name = layout.addName(".note.GNU-stack"), .type = kProgbits, .offset = layout.end});

    const auto symbolSection = static_cast<uint32_t>(layout.headers.size());
    SectionHeader symbols{.name = layout.addName(".symtab"),
                          .type = kSymtab,
                          .offset = roundedUp(layout.end, 8),
                          .link = symbolSection + 1,
                          .info = 1, // the first global symbol
                          .alignment = 8,
                          .entryBytes = is64 ? 24u : 16u};
    symbols.size = symbols.entryBytes * layout.symbols.size();
    SectionHeader names{.name = layout.addName(".strtab"), .type = kStrtab};
    names.offset = symbols.offset + symbols.size;
    names.size = layout.names.size();
    layout.headers.push_back(symbols);
    layout.headers.push_back(names);
    const uint64_t table = roundedUp(names.offset + names.size, 8);

    ByteStream head;
    writeFileHeader(head, machine, table, static_cast<uint16_t>(layout.headers.size()));
    ByteStream tail;
    for (const SymbolEntry& symbol : layout.symbols) writeSymbol(tail, is64, symbol);
    tail.raw(layout.names);
    while (symbols.offset + tail.bytes().size() < table) tail.number(uint8_t{0});
    for (const SectionHeader& header : layout.headers) writeSectionHeader(tail, is64, header);

    const auto asBytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    layout.pieces.insert(layout.pieces.begin(), {0, asBytes(head.bytes())});
    layout.pieces.push_back({symbols.offset, asBytes(tail.bytes())});
    return writePieces(path, layout.pieces);
}

core::Status writeElfData(const DataParts& parts)
{
    const core::Result<ElfMachine> machine = ElfMachine::of(parts.triple);
    if (!machine) return machine.error();
    const auto asBytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
    const std::vector<DataSection> described = {
        {".rodata.tenon.blob", 64, {{kBlobSymbol, asBytes(parts.blob), SymbolReach::Exported}}},
        {".tenon.manifest", 8, {{kManifestSymbol, asBytes(parts.manifest), SymbolReach::Exported}}},
    };
    if (const core::Status done = writeDataObject(parts.descriptionPath, *machine, described);
        !done)
        return done.error();
    return writeDataObject(parts.weightsPath, *machine, {parts.weights});
}

} // namespace tenon::compiler
