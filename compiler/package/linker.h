// SPDX-License-Identifier: Apache-2.0
// Linking through LLD inside this process; one link at a time.
#pragma once

#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

struct LinkJob
{
    std::string triple;
    std::vector<std::string> objects; ///< paths, in the order of the output
    std::vector<std::string> exports; ///< the library's dynamic symbols; everything else is local
    std::vector<std::pair<std::string, std::string>> aliases; ///< readable local name -> symbol
    std::string folder;     ///< existing folder for the linker's own files
    std::string entry = {}; ///< where a program starts; empty: not a program
};

/// Writes a shared library (for wasm32: a module; with an entry: a static program) without
/// undefined symbols; the same objects give the same bytes. Errors: LinkFailure with the linker's
/// words, UnsupportedTarget.
core::Status linkSharedLibrary(const LinkJob& job, const std::string& outputPath);

/// Joins the objects into one relocatable object; exports and aliases are not used.
core::Status linkRelocatable(const LinkJob& job, const std::string& outputPath);

} // namespace tenon::compiler
