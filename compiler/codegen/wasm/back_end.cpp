// SPDX-License-Identifier: Apache-2.0
// WebAssembly with 32-bit addresses, by LLVM: a module runs by itself, on one thread.
#include "compiler/codegen/back_end.h"

#include "compiler/codegen/data_section.h"
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"
#include "compiler/codegen/wasm/wasm_glue.h"
#include "compiler/codegen/wasm/wasm_object.h"

#include <llvm/MC/MCSubtargetInfo.h>

namespace tenon::compiler {
namespace {

void addFacts(const llvm::MCSubtargetInfo& info, TargetFacts& facts)
{
    facts.vectorBytes = info.checkFeatures("+simd128") ? 16 : 4;
}

std::string glueText(const GlueParts& parts) { return llvmGlueText(parts) + wasmRuntimeText(); }

/// Nobody walks a module's memory for what is inside: the manifest is for readers of files.
Status writeData(const DataParts& parts)
{
    if (Status done = writeWasmDataObject(parts.descriptionPath, {".rodata", 64, {}},
                                          {{".tenon.manifest", parts.manifest}});
        !done)
        return done;
    return writeWasmDataObject(parts.weightsPath, parts.weights, {});
}

std::vector<std::string> exports(const ExecutorProgram& program, ExecutorKind, OutputFormat)
{
    return wasmExports(program);
}

/// A module that imports nothing and exports its memory, and the table into which a host may put a
/// function to be called back. Its stack lies first, so that running out of it traps instead of
/// overwriting weights.
Result<LinkJob> linkJob(const LinkPlan& plan, OutputFormat format)
{
    LinkJob job{{"wasm-ld"}, plan.folder};
    if (format == OutputFormat::Object) {
        job.arguments.emplace_back("-r");
    } else {
        job.arguments.insert(job.arguments.end(), {"--no-entry", "--stack-first", "--export-table",
                                                   "--growable-table", "-z", "stack-size=1048576"});
        for (const std::string& name : plan.exports) job.arguments.push_back("--export=" + name);
    }
    job.arguments.insert(job.arguments.end(), plan.objects.begin(), plan.objects.end());
    return job;
}

constexpr ExecutorKind kAot[] = {ExecutorKind::Aot};
constexpr ArtifactForm kForms[] = {
    {OutputFormat::WasmModule, kAot}, {OutputFormat::Object, kAot}, {OutputFormat::Tar, kAot}};
constexpr Lacks kLacks = {.fma = true};
constexpr LlvmTraits kTraits = {.addFacts = addFacts,
                                .family = MachineFamily::WebAssembly,
                                .lacks = &kLacks,
                                .lacksHalf = true,
                                .isPlaced = true};
constexpr ObjectCode kObjects = {llvmKernel, llvmBuiltins, glueText, emitIrText,
                                 writeData,  exports,      linkJob};

} // namespace

extern constinit const BackEnd wasmBackEnd = {.name = "wasm",
                                              .architecture = "wasm32",
                                              .forms = kForms,
                                              .hasThreads = false,
                                              .runner = {.program = "node", .package = "nodejs"},
                                              .machine = llvmMachine,
                                              .facts = llvmFacts,
                                              .figures = llvmFigures,
                                              .traits = llvmCodeTraits,
                                              .objects = &kObjects,
                                              .llvm = &kTraits};

} // namespace tenon::compiler
