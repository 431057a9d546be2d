// SPDX-License-Identifier: Apache-2.0
// From the lowered module and its kernels to the program that executors run.
#pragma once

#include "compiler/executor/compiled_kernel.h"
#include "compiler/executor/memory.h"
#include "core/base/result.h"
#include "core/ir/module.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// The lowered module's main function as a straight line of kernel calls. Kernels keep their
/// index.
Result<ExecutorProgram> buildProgram(const Module& lowered,
                                     const std::vector<CompiledKernel>& kernels);

/// As above with control flow and sizes known at run time only, as code for the VM; with the plan
/// of the values whose largest size is known.
struct VmProgram
{
    ExecutorProgram program;
    ProgramMemory memory;
};
Result<VmProgram> buildVmProgram(const Module& lowered, const std::vector<CompiledKernel>& kernels,
                                 std::string_view planner);

/// Why the lowered module needs the VM ("control flow", ...); empty: every executor can run it.
std::string vmReason(const Module& lowered);

} // namespace tenon::compiler
