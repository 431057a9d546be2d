// SPDX-License-Identifier: Apache-2.0
// One kernel from flat loop IR to a relocatable object, LLVM IR text or assembly text: plain bytes
// in, plain bytes out.
#pragma once

#include "compiler/codegen/kernel_source.h"
#include "compiler/codegen/llvm/target_machine.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace tenon::compiler {

struct LlvmTraits;

/// Emits the kernel for the machine. The line table of the object refers to tir::print(lowered),
/// file `<symbol>.tir`.
Result<std::string> emitKernel(const KernelSource& source, const MachineSpec& machine,
                               EmitForm form);
/// The same with a code generator that is there already.
Result<std::string> emitKernel(const KernelSource& source, llvm::TargetMachine& machine,
                               const LlvmTraits& traits, EmitForm form);

/// Loops over single numbers.
enum class PlainLoops : uint8_t
{
    Keep,
    Vectorize ///< where LLVM finds that it may
};

/// The module as this machine's code: what is missing expanded, cleaned up, checked.
Result<std::string> writeModule(llvm::Module& module, llvm::TargetMachine& machine,
                                const LlvmTraits& traits, EmitForm form,
                                PlainLoops plainLoops = PlainLoops::Keep);

} // namespace tenon::compiler
