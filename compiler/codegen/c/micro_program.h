// SPDX-License-Identifier: Apache-2.0
// Models as programs for bare boards: what runtime/micro/mps2/program.c feeds and counts.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/codegen/kernel_source.h"
#include "compiler/executor/program.h"

namespace tenon::compiler {

/// Memory that the graph executor is given on a bare board: its tensors, and what parsing takes.
int64_t microArenaBytes(const ExecutorProgram& program);

/// main.c of such a program.
std::string microMainText(const SourceProgram& source);

/// Links the sources that lie in `folder` into the program `path`, which carries `manifest` where
/// no board takes memory for it. Errors: those of linkMicroImage().
Status linkMicroProgram(const SourceProgram& source, const std::string& folder,
                        const std::string& manifest, const std::string& path);

} // namespace tenon::compiler
