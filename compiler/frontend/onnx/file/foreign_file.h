// SPDX-License-Identifier: Apache-2.0
// Files of other programs that one gives in a model's place: archives, checkpoints, libraries.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tenon::compiler {

/// What a file is by its first bytes, for people, and what to do with it; empty: nothing known.
std::string foreignFileMessage(std::span<const std::byte> file);

} // namespace tenon::compiler
