// SPDX-License-Identifier: Apache-2.0
// Projects that are there: their Makefile's targets, and one inference of those that are fed from
// files.
#pragma once

#include "compiler/codegen/project_template.h"
#include "compiler/package/project_folder.h"
#include "remote/session/local_board.h"

#include <span>

namespace tenon::runs {

using namespace core;

struct Project
{
    std::string folder;
    compiler::ProjectFacts facts;
    const compiler::ProjectTemplate* project = nullptr;

    std::string file(const std::string& name) const { return folder + "/build/" + name; }
};

/// Errors: BadArgument where there is none, BadArtifact.
Result<Project> openProject(const std::string& folder);

/// Error UnsupportedFeature naming the first that is missing and who has it.
Status needTools(const Project& project, std::span<const compiler::ProjectTool> tools);

/// One of the Makefile's targets; what it printed. Errors: needTools()'s, BoardFailure.
Result<std::string> makeProject(const Project& project, const std::string& what);

/// One inference of a project whose program reads files. Errors: makeProject()'s.
Result<std::vector<Tensor>> runProject(const Project& project, const remote::NamedTensors& inputs);

} // namespace tenon::runs
