// SPDX-License-Identifier: Apache-2.0
// Relocatable ELF objects that hold data and nothing else: weights, module blob, manifest.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

/// What an object file must agree on with the code it is linked to.
struct ElfMachine
{
    uint16_t machine = 62; ///< e_machine: 62 x86-64, 183 AArch64, 40 Arm, 164 Hexagon, 243 RISC-V
    uint32_t flags = 0;    ///< e_flags
    bool is64 = true;

    /// From a triple; error UnsupportedTarget when the triple's objects are not ELF of these kinds.
    static core::Result<ElfMachine> of(const std::string& triple);
};

enum class SymbolReach : uint8_t
{
    Hidden,  ///< seen by the objects it is linked with
    Exported ///< seen by whoever loads the library
};

struct DataSymbol
{
    std::string name;
    std::span<const std::byte> bytes;
    SymbolReach reach = SymbolReach::Hidden;
};

/// One read-only section; each symbol starts at a multiple of `alignment`.
struct DataSection
{
    std::string name;
    uint64_t alignment = 64;
    std::vector<DataSymbol> symbols;
    bool isReserved = false; ///< addresses only; fillSection puts the bytes into the library
};

/// Where the symbols of a section start, and what it takes.
struct SectionPlan
{
    std::vector<uint64_t> starts;
    uint64_t bytes = 0;
};
SectionPlan planSection(const DataSection& section);

/// Writes the object in one pass, straight from the symbols' bytes.
core::Status writeDataObject(const std::string& path, ElfMachine machine,
                             const std::vector<DataSection>& sections);

} // namespace tenon::compiler
