// SPDX-License-Identifier: Apache-2.0
// Model Library Format, version 7: what describes a compiled model beside its code, for projects
// of other tools.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"
#include "core/artifact/manifest.h"
#include "core/base/result.h"
#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct ModelLibrary
{
    const ExecutorProgram& program;
    ExecutorKind executor;
    const core::Manifest& manifest;        ///< of the program, its head filled in
    const core::Module& module;            ///< as it was imported
    const ProgramMemory* memory = nullptr; ///< the AOT executor's plan
    std::string runtimeVersion = {};       ///< of what lies in `runtime`; empty: nothing does
    int64_t exportedAt = 0;                ///< seconds since 1970
};

/// `metadata.json`, `src/` (the model as text, and its large constants), `parameters/` and, for the
/// graph executor, `executor-config/`. Error UnsupportedFeature when graph JSON cannot say what the
/// program does.
core::Result<std::vector<SourceFile>> modelLibraryMembers(const ModelLibrary& library);

/// A back end's files where the format wants them: `src` and the model's header below
/// `codegen/host`, anything else as it is.
std::vector<SourceFile> modelLibraryCode(std::vector<SourceFile> sources);

/// What SOURCE_DATE_EPOCH says, or 0: archives of one model are equal whenever they are made.
int64_t exportTime();

} // namespace tenon::compiler
