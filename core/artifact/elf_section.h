// SPDX-License-Identifier: Apache-2.0
// Finds one section of an ELF file by name; bounds-checked, for files nobody vouches for.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace tenon::core {

/// The bytes of the section inside `file`; error BadArtifact when it is no little-endian ELF file
/// or has no such section.
Result<std::span<const std::byte>> findElfSection(std::span<const std::byte> file,
                                                  std::string_view name);

} // namespace tenon::core
