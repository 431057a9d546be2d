// SPDX-License-Identifier: Apache-2.0
// The glue object: what joins hash-named kernels to TVM's C ABI, for each executor.
//
// It defines, once per artifact, the exported pointer variables that a runtime fills
// (`__TVMBackendAllocWorkspace` and the like), so that the artifact has no undefined symbol. Kernel
// objects refer to their hidden aliases, named "tenon" + the exported name.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"

#include <string>
#include <vector>

namespace tenon::compiler {

enum class ExecutorKind : uint8_t
{
    Graph,
    Aot,
    Vm
};

std::string_view executorName(ExecutorKind executor);

/// Hidden symbol under which the artifact holds a constant.
std::string constantSymbol(int tensor);

/// Graph executor: a packed function per kernel that checks its arguments, and
/// `_lookup_linked_param` from storage id to constant.
std::string graphGlueText(const ExecutorProgram& program, const StoragePlan& storage);

/// AOT executor: `tvmgen_<module>___tvm_main__`, its twin `tvmgen_<module>___tenon_profile__` that
/// calls the exported variable `__TenonProfileMark` with i before call i and with the number of
/// calls at the end, and `get_c_metadata`.
std::string aotGlueText(const ExecutorProgram& program, const ProgramMemory& memory);

/// VM executor: `tenon_vm_table`, which gives the VM kernels behind one signature and constants.
std::string vmGlueText(const ExecutorProgram& program);

/// Exported symbols of the glue, sorted.
std::vector<std::string> glueExports(const ExecutorProgram& program, ExecutorKind executor);

/// Added to the AOT glue of a WebAssembly module: workspaces, sequential launches and the last
/// error, set by `_initialize`, so that the module imports nothing.
std::string wasmRuntimeText();

/// What such a module exports, sorted.
std::vector<std::string> wasmExports(const ExecutorProgram& program);

/// True for triples of Qualcomm's Hexagon DSPs.
bool isHexagon(const std::string& triple);

/// Added to the AOT glue of a Hexagon program: start-up code that calls the Linux kernel by itself.
/// The program takes three files: counts (three i32: inferences per measured time, times, profiled
/// inferences) followed by the bytes of all inputs; the bytes of all outputs; the times in
/// nanoseconds (i64), then for each profiled inference the instants at its calls and at its end.
std::string hexagonProgramText(const ExecutorProgram& program);
inline constexpr const char* kHexagonEntry = "_start";

/// Compiles IR text (of the functions above, or any other) to a relocatable object.
core::Result<std::string> emitIrText(const std::string& text, const MachineSpec& machine);

} // namespace tenon::compiler
