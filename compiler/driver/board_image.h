// SPDX-License-Identifier: Apache-2.0
// Images of a server with a model, made by a board's own project.
#pragma once

#include "compiler/driver/compile.h"

namespace tenon::compiler {

/// The template of the project in `folder`. Errors: BadArgument where there is no project or one
/// without a server, UnsupportedTarget for another core than the project's.
Result<const ProjectTemplate*> boardTemplate(const std::string& folder, const Target& target);

/// What writeArtifact() writes, or, with the folder of a serial board's project, the image of its
/// server with the model in it. Errors: boardTemplate()'s; UnsupportedFeature with the package of a
/// missing tool, BoardFailure with what the tools say.
Result<PackageReport> writeForBoard(const CompileResult& result, const std::string& path,
                                    const std::string& boardProject);

/// As writeProject(), with the files of a board's own project in place of the template's.
Status writeBoardProject(const CompileResult& result, const ProjectTemplate& project,
                         const std::string& folder, const std::string& boardProject);

/// What tells an image of a server from others, which the board says, too; empty when there is
/// none. Error IoFailure.
Result<std::string> imageName(const std::string& path);

} // namespace tenon::compiler
