// SPDX-License-Identifier: Apache-2.0
// README.md of a project: what the folder is, what to call and which tools that takes.
#pragma once

#include "compiler/codegen/project_template.h"
#include "core/artifact/manifest.h"

#include <string>

namespace tenon::compiler {

/// Markdown for whoever opens the folder without Tenon at hand.
std::string readmeText(const ProjectTemplate& project, const core::Manifest& manifest);

} // namespace tenon::compiler
