// SPDX-License-Identifier: Apache-2.0
// Files of text under the name of a model: web pages, pointers of Git LFS, notes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tenon::compiler {

/// What a file is whose first bytes are text, for people, with how it begins; empty: they are not.
std::string textFileMessage(std::span<const std::byte> file);

} // namespace tenon::compiler
