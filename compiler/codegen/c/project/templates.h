// SPDX-License-Identifier: Apache-2.0
// The projects that are made of C source, and what their files share.
#pragma once

#include "compiler/codegen/project_template.h"

namespace tenon::compiler {

extern const ProjectTemplate arduinoTemplate;
extern const ProjectTemplate baremetalMps2Template;
extern const ProjectTemplate baremetalRiscvTemplate;
extern const ProjectTemplate crtHostTemplate;
extern const ProjectTemplate zephyrTemplate;

/// All of them, by name.
std::span<const ProjectTemplate* const> cProjectTemplates();

/// The rule `run` of a Makefile: takes the inputs, calls `command` in `build` when `program` is
/// there, prints the outputs.
std::string runRule(const SourceProgram& source, const std::string& program,
                    const std::string& command);

/// A file that is shipped below runtime/, under another name in the project.
struct ShippedFile
{
    std::string_view from;
    std::string_view to;
};
core::Result<std::vector<SourceFile>> shippedFiles(std::span<const ShippedFile> files);

/// Sources of the model in a Makefile: "$(wildcard model/codegen/host/src/*.c ...)".
std::string modelSources();
/// Where their headers are: "-Imodel/codegen/host/include ...".
std::string modelIncludes();

/// The server's sources, what they serve, and `serve.sh` with the command: for the board whose
/// files lie in runtime/micro/`platform`. Error UnsupportedFeature for a tensor of too many
/// dimensions.
core::Result<std::vector<SourceFile>>
serverFiles(const SourceProgram& program, std::string_view platform, const std::string& command);
/// Of the server in a Makefile, beside main.c and the model's; and the options of its compiler.
std::string serverSources();
std::string serverOptions();

/// A C function `infer`, which calls the model with inputs of zeros, and its outputs with their
/// sizes: what demonstrations print. Error UnsupportedFeature for another executor than AOT.
core::Result<std::string> demonstrationText(const SourceProgram& program);

} // namespace tenon::compiler
