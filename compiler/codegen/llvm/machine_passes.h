// SPDX-License-Identifier: Apache-2.0
// LLVM's passes from optimized IR to a file, as many as kernels need.
#pragma once

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace tenon::compiler {

/// True where kernels step their pointers themselves (step_pointers.h) instead of leaving it to
/// LLVM's loop strength reduction.
bool stepsPointers(const llvm::TargetMachine& machine);

/// The order of a kernel's instructions before registers are given out.
enum class MachineOrder
{
    Scheduled, ///< by what LLVM knows of the processor
    AsEmitted
};

/// False when LLVM cannot write this kind of file for the machine.
bool addMachinePasses(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
                      llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type, MachineOrder order);

} // namespace tenon::compiler
