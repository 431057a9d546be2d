// SPDX-License-Identifier: Apache-2.0
// Data of an artifact on its way into an object: weights, module blob, manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

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

} // namespace tenon::compiler
