// SPDX-License-Identifier: Apache-2.0
// What users write about shapes: "x=1,3,224,224", "batch=8", "batch=1..8", "x=1..8,3,224,224".
#pragma once

#include "compiler/frontend/loaded.h"

#include <string>
#include <string_view>

namespace tenon::compiler {

/// Adds one entry to the options; error BadArgument quotes it.
Status readShapeOption(const std::string& entry, ImportOptions& options);
/// Entries in one line, separated by blanks, semicolons or commas: "batch=1..8, seq=128".
Status readShapeOptions(std::string_view line, ImportOptions& options);

} // namespace tenon::compiler
