// SPDX-License-Identifier: Apache-2.0
// The loop IR arrives tiled, unrolled and vectorized: LLVM is asked for clean-up and good machine
// code only.
#include "compiler/codegen/llvm/kernel_object.h"

#include "compiler/codegen/llvm/byte_halves.h"
#include "compiler/codegen/llvm/byte_matrices.h"
#include "compiler/codegen/llvm/byte_pairs.h"
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/expand_missing.h"
#include "compiler/codegen/llvm/lane_loads.h"
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"
#include "compiler/codegen/llvm/machine_passes.h"
#include "compiler/codegen/llvm/neon_narrow.h"
#include "compiler/codegen/llvm/product_pairs.h"
#include "compiler/codegen/llvm/soft_half.h"
#include "compiler/codegen/llvm/step_pointers.h"
#include "core/ir/tir/text.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace tenon::compiler {
namespace {

/// Promotion of register buffers, common subexpressions of unrolled bodies, hoisting; nothing that
/// searches for loops to change.
constexpr const char* kPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,sroa,dce)";
/// The same code for x86-64, where selection combines as much once more.
constexpr const char* kShortPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),sroa,early-cse<memssa>,dce)";
/// Statements that no rule arranges (selections, scans, copies before updates) have loops of single
/// numbers, of which LLVM makes vectors where it finds that it may.
constexpr const char* kLoopPipeline =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,loop-vectorize,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse<memssa>,sroa,dce)";

/// What Neon does at once with bytes and lanes that lie side by side.
void useNeighbours(llvm::Module& module, const llvm::TargetMachine& machine,
                   llvm::FunctionAnalysisManager& analyses)
{
    const ByteDot dot = byteDot(machine);
    const bool isOfWords = isNeonOfWords(machine);
    for (llvm::Function& function : module) {
        if (function.isDeclaration()) continue;
        // Four bytes of a quad become one load.
        llvm::AggressiveInstCombinePass().run(function, analyses);
        analyses.invalidate(function, llvm::PreservedAnalyses::none());
        if (dot == ByteDot::NeonMultiplyAdd) copyPairsOfBytes(function, analyses);
        mergeLaneLoads(function, analyses, isOfWords ? LaneOperands::Halves : LaneOperands::All);
        joinByteHalves(function, analyses);
        if (dot == ByteDot::NeonMatrix) formByteMatrices(function);
        if (!isOfWords) mergeNarrowStores(function, analyses);
    }
}

bool isArm32With(const llvm::TargetMachine& machine, llvm::StringRef feature)
{
    const llvm::Triple& triple = machine.getTargetTriple();
    return (triple.isARM() || triple.isThumb()) &&
           machine.getMCSubtargetInfo()->checkFeatures(feature);
}

bool isX86With(const llvm::TargetMachine& machine, llvm::StringRef feature)
{
    return machine.getTargetTriple().getArch() == llvm::Triple::x86_64 &&
           machine.getMCSubtargetInfo()->checkFeatures(feature);
}

/// Vectors of a length known now: those of any length need kernels written for them.
void fixVectorLengths(llvm::Function& function)
{
    llvm::DominatorTree tree(function);
    llvm::LoopInfo loops(tree);
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.scalable.enable", 0);
}

/// Vectors for a kernel of statements, on a processor that has some.
PlainLoops plainLoopsOf(const KernelSource& source, const llvm::TargetMachine& machine)
{
    constexpr int kShortestVector = 16;
    const llvm::Triple& triple = machine.getTargetTriple();
    const bool hasVectors = source.vectorBytes >= kShortestVector && triple.isArch64Bit() &&
                            (triple.isX86() || triple.isAArch64());
    return hasVectors && source.lowered.attrs.string("kind", "") == "extern" ? PlainLoops::Vectorize
                                                                             : PlainLoops::Keep;
}

Status optimize(llvm::Module& module, llvm::TargetMachine& machine, PlainLoops plainLoops)
{
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graphs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    llvm::ModulePassManager passes;
    const bool isShort = stepsPointers(machine);
    const bool vectorizes = plainLoops == PlainLoops::Vectorize;
    if (vectorizes)
        for (llvm::Function& function : module)
            if (!function.isDeclaration()) fixVectorLengths(function);
    if (llvm::Error error = builder.parsePassPipeline(passes, vectorizes ? kLoopPipeline
                                                              : isShort  ? kShortPipeline
                                                                         : kPipeline)) {
        return makeError(DiagnosticCode::CodegenFailure,
                         "LLVM pipeline: " + llvm::toString(std::move(error)));
    }
    passes.run(module, modules);
    if (isX86With(machine, "+sse2"))
        for (llvm::Function& function : module)
            if (!function.isDeclaration())
                pairProducts(function, isX86With(machine, "+avx2") ? 32 : 16);
    for (llvm::Function& function : module)
        if (isShort && !function.isDeclaration()) stepPointers(function);
    if (machine.getTargetTriple().isAArch64() || isNeonOfWords(machine))
        useNeighbours(module, machine, functions);
    return kDone;
}

/// Where long products become sums each is added before many more are made. For a core that waits
/// for results LLVM begins all products of a step first, and keeps them on the stack (a pointwise
/// layer of DS-CNN on a Cortex-A53: 671,120 in place of 519,716 instructions).
MachineOrder orderOf(const llvm::Module& module, const llvm::TargetMachine& machine)
{
    const bool waits = machine.getTargetTriple().isAArch64() &&
                       !machine.getMCSubtargetInfo()->getSchedModel().isOutOfOrder();
    const auto addsPairs = [](const llvm::Function& function) {
        return function.getIntrinsicID() == llvm::Intrinsic::aarch64_neon_saddlp;
    };
    return waits && llvm::any_of(module, addsPairs) ? MachineOrder::AsEmitted
                                                    : MachineOrder::Scheduled;
}

} // namespace

Result<std::string> writeModule(llvm::Module& module, llvm::TargetMachine& machine,
                                const LlvmTraits& traits, EmitForm form, PlainLoops plainLoops)
{
    std::string broken;
    llvm::raw_string_ostream brokenStream(broken);
    if (llvm::verifyModule(module, &brokenStream))
        return makeError(DiagnosticCode::CodegenFailure,
                         "generated LLVM IR is invalid: " + brokenStream.str());
    expandMissing(module, machine, traits);
    if (machine.getOptLevel() != llvm::CodeGenOptLevel::None)
        if (Status done = optimize(module, machine, plainLoops); !done) return done.error();
    if (form == EmitForm::LlvmIr) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        module.print(stream, nullptr);
        return stream.str();
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager codegen;
    const auto type = form == EmitForm::Object ? llvm::CodeGenFileType::ObjectFile
                                               : llvm::CodeGenFileType::AssemblyFile;
    if (!addMachinePasses(codegen, machine, stream, type, orderOf(module, machine)))
        return makeError(DiagnosticCode::CodegenFailure,
                         "LLVM cannot write this kind of file for " +
                             machine.getTargetTriple().str());
    codegen.run(module);
    return std::string(bytes.begin(), bytes.end());
}

Result<std::string> emitKernel(const KernelSource& source, const MachineSpec& spec, EmitForm form)
{
    auto machine = createTargetMachine(spec);
    if (!machine) return machine.error();
    return emitKernel(source, **machine, *spec.backEnd->llvm, form);
}

Result<std::string> emitKernel(const KernelSource& source, llvm::TargetMachine& machine,
                               const LlvmTraits& traits, EmitForm form)
{
    llvm::LLVMContext context;
    context.setDiscardValueNames(form == EmitForm::Object);
    llvm::Module module(source.symbol, context);
    module.setTargetTriple(machine.getTargetTriple().str());
    module.setDataLayout(machine.createDataLayout());
    module.setPICLevel(llvm::PICLevel::SmallPIC);
    EmitOptions options;
    options.symbol = source.symbol;
    options.sourceName = source.symbol + ".tir";
    options.vectorBytes = source.vectorBytes;
    options.byteDot = byteDot(machine);
    options.multipliesTiles = multipliesTiles(machine);
    options.lacksFloat16 = lacksHalf(machine, traits, HalfFormat::Binary16);
    options.lacksBfloat16 = lacksHalf(machine, traits, HalfFormat::Bfloat16);
    options.hasReciprocal = hasReciprocal(machine);
    options.hasNarrowLanes = hasNarrowLanes(machine);
    const bool isWide = options.vectorBytes >= 64 && isX86With(machine, "+avx512bw");
    options.packedLanes = isWide ? 16 : isX86With(machine, "+avx2") ? 8 : 0;
    options.masksLanes = options.vectorBytes >= 64 && isX86With(machine, "+avx512vl");
    options.shufflesBytes = options.hasNarrowLanes || isX86With(machine, "+ssse3");
    options.permutesBytes = isWide && permutesBytes(machine);
    const bool isNeonOf32 = isArm32With(machine, "+neon");
    options.nanMaximumLanes = machine.getTargetTriple().isAArch64() ? 1 : isNeonOf32 ? 2 : INT_MAX;
    options.dividesByLanes = isNeonOf32 && isArm32With(machine, "+vfp4");
    options.convertsToNearest =
        machine.getTargetTriple().isRISCV() && machine.getMCSubtargetInfo()->checkFeatures("+f");
    options.isElf = machine.getTargetTriple().isOSBinFormatELF();
    std::unordered_map<const tir::StmtNode*, int> lines;
    tir::print(source.lowered, &lines);
    if (Status done = Emitter(module, options).emit(source.lowered, lines); !done)
        return done.error();
    return writeModule(module, machine, traits, form, plainLoopsOf(source, machine));
}

} // namespace tenon::compiler
