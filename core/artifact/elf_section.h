// SPDX-License-Identifier: Apache-2.0
// Finds sections of an ELF file by name, and what the file takes on its target; bounds-checked,
// for files nobody vouches for.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tenon::core {

/// The bytes of the section inside `file`; error BadArtifact when it is no little-endian ELF file
/// or has no such section.
Result<std::span<const std::byte>> findElfSection(std::span<const std::byte> file,
                                                  std::string_view name);

/// What of an ELF file reaches the target: sections marked for allocation.
struct LoadedBytes
{
    int64_t stored = 0; ///< code, constants and initial values
    int64_t zeroed = 0; ///< takes memory, but no place in the file
};
/// Error BadArtifact when it is no little-endian ELF file.
Result<LoadedBytes> loadedBytes(std::span<const std::byte> file);
/// The stored bytes of those sections by name.
Result<std::map<std::string, int64_t>> storedSections(std::span<const std::byte> file);

} // namespace tenon::core
