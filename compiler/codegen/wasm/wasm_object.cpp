// SPDX-License-Identifier: Apache-2.0
// Writes relocatable modules as described by the WebAssembly tool conventions ("Linking", version
// 2).
#include "compiler/codegen/wasm/wasm_object.h"

#include "core/base/text.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tenon::compiler {
namespace {

enum Section : uint8_t
{
    kCustom = 0,
    kImport = 2,
    kData = 11
};
enum Linking : uint8_t
{
    kVersion = 2,
    kSegments = 5,
    kSymbols = 8
};
constexpr uint64_t kPageBytes = 65536;
constexpr uint8_t kDataSymbol = 1;
constexpr uint64_t kHiddenSymbol = 4;

std::string unsignedLeb(uint64_t value)
{
    std::string out;
    do {
        const auto low = static_cast<uint8_t>(value & 0x7f);
        value >>= 7;
        out += static_cast<char>(value ? low | 0x80 : low);
    } while (value);
    return out;
}

std::string signedLeb(int64_t value)
{
    std::string out;
    for (;;) {
        const auto low = static_cast<uint8_t>(value & 0x7f);
        value >>= 7;
        const bool isLast = value == ((low & 0x40) ? -1 : 0);
        out += static_cast<char>(isLast ? low : low | 0x80);
        if (isLast) return out;
    }
}

std::string named(std::string_view text) { return unsignedLeb(text.size()) + std::string(text); }

/// A section or subsection: its number, its length, its content.
std::string numbered(uint8_t number, const std::string& content)
{
    return static_cast<char>(number) + unsignedLeb(content.size()) + content;
}

/// Content in order: text of ours, or a symbol's bytes where they lie.
struct Pieces
{
    std::vector<std::string> heads; ///< before each symbol's bytes
    std::vector<std::span<const std::byte>> bytes;
    uint64_t size = 0;
};

constexpr std::byte kNothing[1] = {};

/// What the symbol takes; an empty constant still gets an address of its own.
std::span<const std::byte> contentOf(const DataSymbol& symbol)
{
    return symbol.bytes.empty() ? std::span<const std::byte>(kNothing) : symbol.bytes;
}

Pieces dataSegments(const DataSection& section, uint64_t& memoryBytes)
{
    Pieces out;
    std::string head = unsignedLeb(section.symbols.size());
    for (const DataSymbol& symbol : section.symbols) {
        const std::span<const std::byte> content = contentOf(symbol);
        memoryBytes = (memoryBytes + section.alignment - 1) / section.alignment * section.alignment;
        head += '\0';                                                           // active, memory 0
        head += '\x41' + signedLeb(static_cast<int32_t>(memoryBytes)) + '\x0b'; // i32.const, end
        head += unsignedLeb(content.size());
        memoryBytes += content.size();
        out.size += head.size() + content.size();
        out.heads.push_back(std::exchange(head, {}));
        out.bytes.push_back(content);
    }
    if (section.symbols.empty()) {
        out.size = head.size();
        out.heads.push_back(head);
        out.bytes.emplace_back();
    }
    return out;
}

std::string linkingSection(const DataSection& section)
{
    const auto log2 = static_cast<uint64_t>(std::countr_zero(section.alignment));
    std::string segments = unsignedLeb(section.symbols.size());
    std::string symbols = segments;
    for (size_t i = 0; i < section.symbols.size(); ++i) {
        const DataSymbol& symbol = section.symbols[i];
        segments += named(section.name + "." + symbol.name) + unsignedLeb(log2) + unsignedLeb(0);
        symbols += static_cast<char>(kDataSymbol);
        symbols += unsignedLeb(symbol.reach == SymbolReach::Hidden ? kHiddenSymbol : 0);
        symbols += named(symbol.name) + unsignedLeb(i) + unsignedLeb(0) +
                   unsignedLeb(contentOf(symbol).size());
    }
    return numbered(kCustom, named("linking") + static_cast<char>(kVersion) +
                                 numbered(kSegments, segments) + numbered(kSymbols, symbols));
}

core::Diagnostic ioError(const std::string& path)
{
    return core::makeError(core::DiagnosticCode::IoFailure,
                           "cannot write " + core::quoted(path) + ": " + std::strerror(errno));
}

} // namespace

core::Status writeWasmDataObject(const std::string& path, const DataSection& section,
                                 const std::vector<WasmCustomSection>& custom)
{
    uint64_t memoryBytes = 0;
    const Pieces data = dataSegments(section, memoryBytes);
    const std::string memory = named("env") + named("__linear_memory") + std::string("\x02\0", 2) +
                               unsignedLeb((memoryBytes + kPageBytes - 1) / kPageBytes);
    std::string head("\0asm\1\0\0\0", 8);
    head += numbered(kImport, unsignedLeb(1) + memory);
    head += static_cast<char>(kData) + unsignedLeb(data.size);
    std::string tail = linkingSection(section);
    for (const WasmCustomSection& each : custom)
        tail += numbered(kCustom, named(each.name) + std::string(each.bytes));

    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                               &std::fclose);
    if (!file) return ioError(path);
    const auto write = [&](const void* bytes, size_t size) {
        return std::fwrite(bytes, 1, size, file.get()) == size;
    };
    bool isWritten = write(head.data(), head.size());
    for (size_t i = 0; isWritten && i < data.heads.size(); ++i)
        isWritten = write(data.heads[i].data(), data.heads[i].size()) &&
                    write(data.bytes[i].data(), data.bytes[i].size());
    isWritten = isWritten && write(tail.data(), tail.size()) && std::fflush(file.get()) == 0;
    return isWritten ? core::Status(core::kDone) : ioError(path);
}

} // namespace tenon::compiler
