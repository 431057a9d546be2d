// SPDX-License-Identifier: Apache-2.0
// Source files as a folder or an archive.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/base/result.h"

namespace tenon::compiler {

/// Writes a .tar, or else a folder: the whole new content or, on failure, what was there before. A
/// folder that holds anything but `include` and `src` is not touched: BadArgument.
core::Status writeSourcePackage(const std::vector<SourceFile>& sources, const std::string& path);

/// As above, always as a tar with a root folder, whatever the path ends in.
core::Status writeSourceArchive(const std::vector<SourceFile>& sources, const std::string& path);

/// The files below a folder, which is made if need be.
core::Status writeSourceTree(const std::vector<SourceFile>& sources, const std::string& folder);

} // namespace tenon::compiler
