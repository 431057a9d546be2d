// SPDX-License-Identifier: Apache-2.0
// ProjectTemplate: a folder that makes firmware, or a program, of a model's source.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "core/base/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// A program that a project calls, and who has it.
struct ProjectTool
{
    std::string_view program;
    std::string_view from; ///< "Debian's gcc-arm-none-eabi and libnewlib-arm-none-eabi"
};

/// Every project has a Makefile, whose targets `all`, `flash` and `run` are what there is to do
/// with it, and the model's Model Library Format archive unpacked in `model`.
struct ProjectTemplate
{
    std::string_view name;
    std::string_view title;  ///< "a Cortex-M that QEMU emulates, without an operating system"
    std::string_view target; ///< unless another is asked for
    std::span<const ProjectTool> buildTools;
    std::span<const ProjectTool> runTools; ///< and to flash
    /// `run` reads `build/request` and writes `build/output`, as programs of the target do; else it
    /// only prints.
    bool feedsFiles = false;
    /// `make server` builds what serves the model over a line of bytes (runtime/micro/rpc), and
    /// `serve.sh` starts it where it runs here.
    bool serves = false;
    int instructionNs =
        0; ///< of what `serve.sh` starts: its clock counts instructions, each so long
    /// Where the model's C files lie once more, side by side: a folder that another builder takes
    /// for a library. Empty: nowhere.
    std::string_view library = "";
    std::string_view notes = ""; ///< for its README: what to know beside make, in Markdown
    /// What the folder holds beside `model`. Errors: UnsupportedTarget, UnsupportedFeature.
    core::Result<std::vector<SourceFile>> (*files)(const SourceProgram&) = nullptr;
};

} // namespace tenon::compiler
