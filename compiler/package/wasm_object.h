// SPDX-License-Identifier: Apache-2.0
// Relocatable WebAssembly objects that hold data and nothing else: weights, and the manifest.
#pragma once

#include "compiler/package/data_object.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// True for triples whose objects are WebAssembly with 32-bit addresses.
bool isWasm(const std::string& triple);

/// Bytes that programs which read the module find by name; code cannot see them.
struct WasmCustomSection
{
    std::string name;
    std::string_view bytes;
};

/// Writes the object in one pass, straight from the symbols' bytes; each symbol is a segment of its
/// own, so that the linker drops what nobody uses.
core::Status writeWasmDataObject(const std::string& path, const DataSection& section,
                                 const std::vector<WasmCustomSection>& custom);

} // namespace tenon::compiler
