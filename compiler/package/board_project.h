// SPDX-License-Identifier: Apache-2.0
// A board's own project: the folder whose Makefile, start-up code and drivers serve a model there,
// with another model in it.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// Files of a project that follow from its model, and the server as shipped: a board's own project
/// keeps everything else when it gets another model.
bool isOfModel(std::string_view path);

/// The files of the folder that hold for any model. Errors: IoFailure, BadArgument for a folder
/// with more than a project has.
core::Result<std::vector<SourceFile>> boardFiles(const std::string& folder);

/// Puts them in place of those of the same path, and beside the others.
void takeBoardFiles(std::vector<SourceFile> own, std::vector<SourceFile>& files);

/// Gives the server a name that differs where any file does (see kImageMark).
void nameImage(std::vector<SourceFile>& files);

} // namespace tenon::compiler
