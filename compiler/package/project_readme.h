// SPDX-License-Identifier: Apache-2.0
// README.md of a project: what the folder is, what to call and which tools that takes.
#pragma once

#include "compiler/codegen/project_template.h"
#include "core/artifact/manifest.h"

#include <map>
#include <string>

namespace tenon::compiler {

/// What the integers of a tensor stand for, by its name: "(integer + 128) * 0.00390625".
using RealValues = std::map<std::string, std::string>;

/// Markdown for whoever opens the folder without Tenon at hand.
std::string readmeText(const ProjectTemplate& project, const core::Manifest& manifest,
                       const RealValues& reals);

} // namespace tenon::compiler
