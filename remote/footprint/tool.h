// SPDX-License-Identifier: Apache-2.0
// Tools that a measurement runs: compilers, and programs that print tables.
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::remote {

/// True when the program is on PATH.
bool hasTool(const std::string& name);
/// Runs the words (quoted as needed) and returns what they print; error BoardFailure with the first
/// lines when they fail.
core::Result<std::string> runTool(const std::vector<std::string>& words);

/// `nm -S`: bytes of each symbol that has a size.
core::Result<std::map<std::string, int64_t>> symbolBytes(const std::string& nm,
                                                         const std::string& image);
/// `size -A`: bytes of each section.
core::Result<std::map<std::string, int64_t>> sectionBytes(const std::string& size,
                                                          const std::string& image);

} // namespace tenon::remote
