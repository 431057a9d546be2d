// SPDX-License-Identifier: Apache-2.0
// A file as pieces that lie wherever they are: written one after the other, or found in place.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

/// In the order of the file; some may be empty.
using FileParts = std::vector<std::span<const std::byte>>;

/// Creates or empties `path` and writes the parts. The disk begins with large ones at once: the
/// file will be made durable before it gets its name. Error: IoFailure.
core::Status writeParts(const FileParts& parts, const std::string& path);

/// Whether `path` is a regular file that holds exactly these parts; then it is durable and dated
/// now, as if it had been replaced by them. Whatever is in the way of that is "no": writing the
/// file again says what it is.
bool keepIfSame(const FileParts& parts, const std::string& path);

} // namespace tenon::compiler
