// SPDX-License-Identifier: Apache-2.0
// Projects on disk: a template's files around an unpacked Model Library Format archive, and
// project.json, which says what they are.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/artifact/manifest.h"
#include "core/base/result.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct ProjectFacts
{
    std::string project; ///< name of its template
    core::Manifest manifest;
};

/// project.json.
std::string projectText(const ProjectFacts& facts);
/// Of the project in a folder. Errors: BadArgument where there is none, BadArtifact for a
/// project.json that cannot be read.
core::Result<ProjectFacts> readProject(const std::string& folder);

/// Writes the files, and `library` as model.tar. BadArgument for a folder that holds something.
core::Status writeProjectFolder(const std::vector<SourceFile>& files,
                                const std::vector<SourceFile>& library, const std::string& folder);

} // namespace tenon::compiler
