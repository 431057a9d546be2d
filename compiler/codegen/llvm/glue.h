// SPDX-License-Identifier: Apache-2.0
// The glue object: what joins hash-named kernels to TVM's C ABI, for each executor.
//
// It defines, once per artifact, the exported pointer variables that a runtime fills
// (`__TVMBackendAllocWorkspace` and the like), so that the artifact has no undefined symbol. Kernel
// objects refer to their hidden aliases, named "tenon" + the exported name.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/codegen/machine_spec.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// Graph executor: a packed function per kernel that checks its arguments, and
/// `_lookup_linked_param` from storage id to constant.
std::string graphGlueText(const ExecutorProgram& program, const StoragePlan& storage);

/// AOT executor: `tvmgen_<module>___tvm_main__`, its twin `tvmgen_<module>___tenon_profile__` that
/// calls the exported variable `__TenonProfileMark` with i before call i and with the number of
/// calls at the end, and `get_c_metadata`.
std::string aotGlueText(const ExecutorProgram& program, const ProgramMemory& memory);

/// VM executor: `tenon_vm_table`, which gives the VM kernels behind one signature and constants.
std::string vmGlueText(const ExecutorProgram& program);

/// One of these, in LLVM's IR.
std::string llvmGlueText(const GlueParts& parts);

inline constexpr const char* kBlobSymbol = "__tvm_dev_mblob";
inline constexpr const char* kManifestSymbol = "__tenon_manifest";

/// Exported symbols of the glue, sorted.
std::vector<std::string> glueExports(const ExecutorProgram& program, ExecutorKind executor);
/// With what describes the artifact: all that a library exports, sorted.
std::vector<std::string> libraryExports(const ExecutorProgram& program, ExecutorKind executor,
                                        OutputFormat format);

/// Compiles IR text (of the functions above, or any other) to a relocatable object.
core::Result<std::string> emitIrText(const std::string& text, const MachineSpec& machine);

} // namespace tenon::compiler
