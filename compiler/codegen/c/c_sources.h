// SPDX-License-Identifier: Apache-2.0
// A whole program as C99: interface header, code with one run function, and the weights.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct CProgram
{
    const ExecutorProgram& program;
    const ProgramMemory& memory;
    /// Text of each kernel: a static function named by the kernel's symbol (emitCKernel).
    std::vector<std::string> kernels;
    std::string helpers;
    CInterface interface = CInterface::Structs;
    int64_t alignment = 16;          ///< of the workspace
    int64_t constantsAlignment = 16; ///< of the weights
    std::string title;               ///< of the comment that every file starts with
    bool isMarked = false;           ///< see SourceProgram
};

/// `include/tvmgen_<module>.h`, `src/<module>_lib0.c` (code), `src/<module>_lib1.c` (weights). The
/// workspace is one static array; there is no malloc. Error BadArgument when two inputs or outputs
/// have the same name in C.
core::Result<std::vector<SourceFile>> writeCSources(const CProgram& source);

/// The same for the graph executor on a bare board (runtime/micro/graph): a `tenon_micro_model` of
/// packed kernels, graph JSON and parameters. Error UnsupportedFeature when graph JSON cannot say
/// what the program does.
core::Result<std::vector<SourceFile>> writeCGraphSources(const CProgram& source);

/// `include/tenon/*.h`: what the packed interface includes.
std::vector<SourceFile> runtimeHeaders();

/// What every file starts with; what places arrays; kernel `kernel` under its readable name.
std::string cFileHead(const CProgram& source);
std::string cPlacedMacro();
std::string cKernelText(const CProgram& source, size_t kernel);

} // namespace tenon::compiler
