// SPDX-License-Identifier: Apache-2.0
// C source files as a folder or an archive.
#pragma once

#include "compiler/executor/c_sources.h"

namespace tenon::compiler {

/// Writes a .tar, or else a folder: the whole new content or, on failure, what was there before. A
/// folder that holds anything but `include` and `src` is not touched: BadArgument.
core::Status writeCPackage(const std::vector<CSource>& sources, const std::string& path);

/// `include/tenon/*.h`: what the packed interface includes.
std::vector<CSource> runtimeHeaders();

} // namespace tenon::compiler
