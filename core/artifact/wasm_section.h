// SPDX-License-Identifier: Apache-2.0
// Finds a custom section of a WebAssembly module by name; bounds-checked, for files nobody vouches
// for.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace tenon::core {

/// True when the file starts as modules and their objects do.
bool isWasmModule(std::span<const std::byte> file);

/// The bytes of the first custom section of that name inside `file`; error BadArtifact when there
/// is none or the module is cut off.
Result<std::span<const std::byte>> findWasmSection(std::span<const std::byte> file,
                                                   std::string_view name);

} // namespace tenon::core
