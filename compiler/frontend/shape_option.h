// SPDX-License-Identifier: Apache-2.0
// What users write about shapes: "x=1,3,224,224" or "x=1x3x224x224", "batch=8", "batch=1..8",
// "H=64..512,W=64..512".
#pragma once

#include "compiler/frontend/loaded.h"

#include <string>
#include <string_view>

namespace tenon::compiler {

/// Adds entries of a line, separated by blanks, semicolons or commas, to the options: "batch=1..8,
/// seq=128"; error BadArgument quotes one that is none.
Status readShapeOptions(std::string_view line, ImportOptions& options);

} // namespace tenon::compiler
