// SPDX-License-Identifier: Apache-2.0
// The wire scan: checks the framing of an ONNX file and leaves its weights where they are.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace tenon::compiler {

/// The model's bytes without raw_data of 64 bytes and more: each such field is replaced by
/// mapped_offset and mapped_length, counted from the beginning of `file`. Small, so parsing is
/// cheap. Errors (BadModel): truncation with the byte offset, wrong wire types, subgraphs nested
/// too deeply, nodes without an operator, more than 2 GiB.
core::Result<std::string> thinModel(std::span<const std::byte> file, const std::string& name);

} // namespace tenon::compiler
