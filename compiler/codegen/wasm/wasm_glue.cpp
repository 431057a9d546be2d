// SPDX-License-Identifier: Apache-2.0
// Workspaces are a stack that grows behind the linker's data (runtime.ll).
#include "compiler/codegen/wasm/wasm_glue.h"

#include "compiler/codegen/llvm/glue_support.h"
#include "compiler/codegen/wasm/texts.h"

namespace tenon::compiler {

// Hosts call _initialize first, as in WASI's reactors.
std::string wasmRuntimeText() { return std::string(kRuntime) + aloneRuntimeText("_initialize"); }

std::vector<std::string> wasmExports(const ExecutorProgram& program)
{
    const std::string prefix = "tvmgen_" + program.moduleName;
    return {"TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace",
            "__TenonProfileMark",       "_initialize",
            "tenon_last_error",         prefix + "___tenon_profile__",
            prefix + "___tvm_main__"};
}

} // namespace tenon::compiler
