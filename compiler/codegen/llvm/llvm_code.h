// SPDX-License-Identifier: Apache-2.0
// What the rows of back ends are made of whose code is LLVM's.
#pragma once

#include "compiler/codegen/back_end.h"

namespace tenon::compiler {

/// Resolves and validates the target against LLVM's CPU and feature tables.
Result<MachineSpec> llvmMachine(const BackEnd& backEnd, const Target& target);
Result<TargetFacts> llvmFacts(const MachineSpec& spec);
MachineChoice llvmFigures(const MachineSpec& spec);
CodeTraits llvmCodeTraits(const MachineSpec& spec);

/// A kernel by code generators that are used again.
Result<std::string> llvmKernel(const KernelSource& source, const MachineSpec& spec, EmitForm form);
/// Hidden memcpy, memset, memmove and the like that LLVM itself may call, so that artifacts need no
/// libc.
Result<std::string> llvmBuiltins(const MachineSpec& spec);

} // namespace tenon::compiler
