// SPDX-License-Identifier: Apache-2.0
// Tools that finish by themselves: compilers, and programs that print tables.
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace tenon::core {

/// True when the program is on PATH.
bool hasTool(const std::string& name);
/// Runs the words, as they are, and returns what they print; error BoardFailure with the first
/// lines when they fail.
Result<std::string> runTool(const std::vector<std::string>& words);

} // namespace tenon::core
