// SPDX-License-Identifier: Apache-2.0
// Every processor that LLVM knows and that has no folder of its own: libraries that a runtime
// loads.
#include "compiler/codegen/back_end.h"

#include "compiler/codegen/llvm/elf_link.h"
#include "compiler/codegen/llvm/elf_object.h"
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"

namespace tenon::compiler {
namespace {

constexpr ExecutorKind kTvmExecutors[] = {ExecutorKind::Graph, ExecutorKind::Aot};
constexpr ArtifactForm kForms[] = {{OutputFormat::SharedLibrary, kAllExecutors, true},
                                   {OutputFormat::Object, kAllExecutors},
                                   {OutputFormat::Tar, kAllExecutors},
                                   {OutputFormat::ModelLibrary, kTvmExecutors}};
constexpr LlvmTraits kTraits;
constexpr ObjectCode kObjects = {llvmKernel,   llvmBuiltins,   llvmGlueText, emitIrText,
                                 writeElfData, libraryExports, elfLinkJob};

} // namespace

extern constinit const BackEnd llvmBackEnd = {.name = "llvm",
                                              .kind = "llvm",
                                              .forms = kForms,
                                              .machine = llvmMachine,
                                              .facts = llvmFacts,
                                              .figures = llvmFigures,
                                              .traits = llvmCodeTraits,
                                              .objects = &kObjects,
                                              .llvm = &kTraits};

} // namespace tenon::compiler
