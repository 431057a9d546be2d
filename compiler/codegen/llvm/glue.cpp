// SPDX-License-Identifier: Apache-2.0
// Names that glue and packages agree on, and the way from IR text to an object.
#include "compiler/codegen/llvm/glue.h"

#include "compiler/codegen/llvm/glue_support.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "core/base/text.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <set>

namespace tenon::compiler {

std::string llvmGlueText(const GlueParts& parts)
{
    switch (parts.executor) {
    case ExecutorKind::Graph: return graphGlueText(parts.program, *parts.storage);
    case ExecutorKind::Vm: return vmGlueText(parts.program);
    case ExecutorKind::Aot: break;
    }
    return aotGlueText(parts.program, *parts.memory);
}

std::vector<std::string> glueExports(const ExecutorProgram& program, ExecutorKind executor)
{
    std::set<std::string> names = {"__tvm_module_ctx"};
    for (const std::string_view name : kRuntimePointers) names.emplace(name);
    if (executor == ExecutorKind::Graph) {
        names.insert("_lookup_linked_param");
        for (const KernelCall& call : program.calls)
            names.insert(program.kernels[static_cast<size_t>(call.kernel)].function);
    } else if (executor == ExecutorKind::Vm) {
        names.insert("tenon_vm_table");
    } else {
        const std::string prefix = "tvmgen_" + program.moduleName;
        names.insert({"__TenonProfileMark", "get_c_metadata", prefix + "___tvm_main__",
                      prefix + "___tenon_profile__"});
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> libraryExports(const ExecutorProgram& program, ExecutorKind executor,
                                        OutputFormat)
{
    std::vector<std::string> exports = glueExports(program, executor);
    exports.insert(exports.end(), {kBlobSymbol, kManifestSymbol});
    std::sort(exports.begin(), exports.end());
    return exports;
}

core::Result<std::string> emitIrText(const std::string& text, const MachineSpec& spec)
{
    core::Result<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(spec);
    if (!machine) return machine.error();
    // Glue is written in its final form and runs a few instructions per kernel call: the quickest
    // code generation does.
    (*machine)->setOptLevel(llvm::CodeGenOptLevel::None);
    (*machine)->setFastISel(true);
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
    CHECK(module) << "line " << problem.getLineNo() << ": " << problem.getMessage().str() << ": "
                  << problem.getLineContents().str();
    module->setTargetTriple(spec.triple);
    module->setDataLayout((*machine)->createDataLayout());
    module->setPICLevel(llvm::PICLevel::SmallPIC);
    std::string broken;
    llvm::raw_string_ostream brokenStream(broken);
    CHECK(!llvm::verifyModule(*module, &brokenStream)) << brokenStream.str();

    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                        true))
        return core::makeError(core::DiagnosticCode::CodegenFailure,
                               "LLVM cannot write objects for " + core::quoted(spec.triple));
    passes.run(*module);
    return std::string(bytes.begin(), bytes.end());
}

} // namespace tenon::compiler
