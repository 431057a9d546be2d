// SPDX-License-Identifier: Apache-2.0
// Walks the sections of a WebAssembly module; each length is checked against what is left.
#include "core/artifact/wasm_section.h"

#include "core/base/text.h"

#include <cstring>
#include <optional>

namespace tenon::core {
namespace {

constexpr char kMagic[] = {'\0', 'a', 's', 'm', 1, 0, 0, 0};

/// What is left of a module.
struct Rest
{
    std::span<const std::byte> bytes;

    std::optional<uint8_t> byte()
    {
        if (bytes.empty()) return std::nullopt;
        const auto value = static_cast<uint8_t>(bytes[0]);
        bytes = bytes.subspan(1);
        return value;
    }
    /// A length of at most 32 bits in base 128.
    std::optional<size_t> length()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            const auto next = byte();
            if (!next) return std::nullopt;
            value |= uint64_t{*next & 0x7fu} << shift;
            if (!(*next & 0x80)) return value;
        }
        return std::nullopt;
    }
    /// As many bytes as their length in front says.
    std::optional<std::span<const std::byte>> counted()
    {
        const auto size = length();
        if (!size || *size > bytes.size()) return std::nullopt;
        const auto taken = bytes.first(*size);
        bytes = bytes.subspan(*size);
        return taken;
    }
};

} // namespace

bool isWasmModule(std::span<const std::byte> file)
{
    return file.size() >= sizeof kMagic && std::memcmp(file.data(), kMagic, sizeof kMagic) == 0;
}

Result<std::span<const std::byte>> findWasmSection(std::span<const std::byte> file,
                                                   std::string_view name)
{
    Rest rest{file.subspan(std::min(file.size(), sizeof kMagic))};
    while (!rest.bytes.empty()) {
        const auto id = rest.byte();
        const auto content = rest.counted();
        if (!content)
            return makeError(DiagnosticCode::BadArtifact, "the WebAssembly module is cut off");
        Rest inside{*content};
        const auto text = *id == 0 ? inside.counted() : std::nullopt;
        if (text &&
            std::string_view(reinterpret_cast<const char*>(text->data()), text->size()) == name)
            return inside.bytes;
    }
    return makeError(DiagnosticCode::BadArtifact,
                     "the WebAssembly module has no section " + quoted(name));
}

} // namespace tenon::core
