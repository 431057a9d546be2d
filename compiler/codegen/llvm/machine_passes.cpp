// SPDX-License-Identifier: Apache-2.0
// As LLVMTargetMachine::addPassesToEmitFile, without what follows the values of a source's
// variables: kernels have lines but no variables.
#include "compiler/codegen/llvm/machine_passes.h"

#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>

namespace tenon::compiler {
namespace {

/// As TargetPassConfig::addISelPasses, without loop strength reduction and without what looks for
/// exceptions, atomics, tiles of AMX, garbage collection and calls of libraries: kernels have none.
bool addSelection(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
                  llvm::TargetPassConfig& config)
{
    passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
    passes.add(llvm::createPreISelIntrinsicLoweringPass());
    passes.add(llvm::createBasicAAWrapperPass());
    passes.add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
    passes.add(llvm::createExpandReductionsPass());
    passes.add(llvm::createInterleavedAccessPass());
    passes.add(llvm::createUnreachableBlockEliminationPass());
    config.addCodeGenPrepare();
    config.addISelPrepare();
    if (config.addInstSelector()) return false;
    passes.add(llvm::Pass::createPass(&llvm::FinalizeISelID));
    return true;
}

} // namespace

bool stepsPointers(const llvm::TargetMachine& machine)
{
    return machine.getTargetTriple().getArch() == llvm::Triple::x86_64;
}

bool addMachinePasses(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
                      llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type, MachineOrder order)
{
    auto& generator = static_cast<llvm::LLVMTargetMachine&>(machine);
    auto* info = new llvm::MachineModuleInfoWrapperPass(&generator); // `passes` owns it
    llvm::TargetPassConfig* config = generator.createPassConfig(passes);
    config->setDisableVerify(true);
    config->disablePass(&llvm::LiveDebugValuesID);
    // It shortens chains of integer sums without asking for registers: sums of tiles would spill.
    if (stepsPointers(machine)) config->disablePass(&llvm::MachineCombinerID);
    if (order == MachineOrder::AsEmitted) config->disablePass(&llvm::MachineSchedulerID);
    passes.add(config);
    passes.add(info);
    const bool selects =
        stepsPointers(machine) ? addSelection(passes, machine, *config) : !config->addISelPasses();
    if (!selects) return false;
    config->addMachinePasses();
    config->setInitialized();
    if (generator.addAsmPrinter(passes, out, nullptr, type, info->getMMI().getContext()))
        return false;
    passes.add(llvm::createFreeMachineFunctionPass());
    return true;
}

} // namespace tenon::compiler
