// SPDX-License-Identifier: Apache-2.0
// LLVM IR and assembly of a kernel as readable lines, each linked to the line of the flat TIR it
// came from.
#pragma once

#include "compiler/driver/compile.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct LinkedLine
{
    std::string text;
    int tirLine = 0; ///< 1-based line of CompiledKernel::loweredText; 0: none
};

/// From an assembler file with .loc directives: instructions, labels and data only, directives
/// about frames dropped.
std::vector<LinkedLine> linkAssembly(const std::string& assembly);
/// From textual LLVM IR with !dbg attachments: attachments and metadata are dropped.
std::vector<LinkedLine> linkLlvmIr(const std::string& ir);

/// The linked text of one kernel, produced on demand.
Result<std::vector<LinkedLine>> linkedKernelText(const CompileResult& result, size_t kernel,
                                                 KernelText form);

} // namespace tenon::compiler
