// SPDX-License-Identifier: Apache-2.0
// One kernel from flat loop IR to a relocatable object, LLVM IR text or assembly text: plain bytes
// in, plain bytes out.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"
#include "core/ir/tir/stmt.h"

#include <string>

namespace tenon::compiler {

enum class EmitForm : uint8_t
{
    Object,
    LlvmIr,
    Assembly
};

struct KernelSource
{
    const tir::PrimFunc& lowered; ///< output of lowerToLoops
    std::string symbol;           ///< hidden function symbol in the object
    int vectorBytes = 16;         ///< TargetFacts::vectorBytes of the machine
};

/// Emits the kernel for the machine. The line table of the object refers to tir::print(lowered),
/// file `<symbol>.tir`.
Result<std::string> emitKernel(const KernelSource& source, const MachineSpec& machine,
                               EmitForm form);
/// The same with a code generator that is there already.
Result<std::string> emitKernel(const KernelSource& source, llvm::TargetMachine& machine,
                               EmitForm form);

/// Hidden memcpy, memset, memmove and the like that LLVM itself may call, so that artifacts need no
/// libc.
Result<std::string> emitBuiltins(const MachineSpec& machine);

} // namespace tenon::compiler
