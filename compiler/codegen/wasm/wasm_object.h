// SPDX-License-Identifier: Apache-2.0
// Relocatable WebAssembly objects that hold data and nothing else: weights, and the manifest.
#pragma once

#include "compiler/codegen/data_section.h"
#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

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
