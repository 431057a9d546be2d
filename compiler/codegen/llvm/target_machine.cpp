// SPDX-License-Identifier: Apache-2.0
// LLVM target look-up (LLVM 19: getHostCPUFeatures returns the map).
#include "compiler/codegen/llvm/target_machine.h"

#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"
#include "core/base/text.h"
#include "core/target/lent_tiles.h"
#include "core/target/thread_choice.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/ARMTargetParser.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace tenon::compiler {
namespace {

void registerTargets()
{
    static std::once_flag
        once; // LLVM's registry is process-wide; registering twice is harmless but slow
    std::call_once(once, [] {
        llvm::InitializeAllTargetInfos();
        llvm::InitializeAllTargets();
        llvm::InitializeAllTargetMCs();
        llvm::InitializeAllAsmPrinters();
        llvm::InitializeAllAsmParsers();
        llvm::InitializeAllDisassemblers();
    });
}

Result<const llvm::Target*> findTarget(const std::string& triple)
{
    registerTargets();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!target)
        return makeError(DiagnosticCode::BadTarget,
                         "no code generator for triple " + quoted(triple) + "; see `tenon targets`",
                         {.detail = "mtriple"});
    return target;
}

/// Kernels for tiles are slow where the system lends none; LLVM knows the processor alone.
std::string hostFeatures()
{
    llvm::SubtargetFeatures features;
    for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
        const bool isOfTiles = entry.first().starts_with("amx-");
        features.AddFeature(entry.first(), entry.second && (!isOfTiles || lendsTiles()));
    }
    std::vector<std::string> sorted = features.getFeatures();
    std::sort(sorted.begin(), sorted.end());
    return join(sorted, ",");
}

std::string tripleOf(const Target& target, const LlvmTraits& traits)
{
    if (!target.mtriple.empty()) return llvm::Triple::normalize(target.mtriple);
    if (!traits.triple.empty()) return std::string(traits.triple);
    return llvm::Triple::normalize(llvm::sys::getDefaultTargetTriple());
}

/// The real CPU of a kind that LLVM cannot run on a bare name: 64-bit RISC-V's "generic" is 32-bit
/// elsewhere.
std::string defaultCpu(const llvm::Triple& triple)
{
    if (triple.isRISCV64()) return "generic-rv64";
    if (triple.getArch() == llvm::Triple::x86_64) return "x86-64";
    return "generic";
}

std::string cpuOf(const llvm::Triple& triple, const LlvmTraits& traits)
{
    return traits.cpu.empty() ? defaultCpu(triple) : std::string(traits.cpu);
}

using FloatAbi = MachineSpec::FloatAbi;

bool isArm32(const llvm::Triple& triple) { return triple.isARM() || triple.isThumb(); }

/// As the triple's system passes floats, unless the target says otherwise.
FloatAbi floatAbiOf(const Target& target, const llvm::Triple& triple)
{
    const std::string given = target.stringOption("mfloat-abi");
    if (!isArm32(triple) || given == "hard") return FloatAbi::Hard;
    if (!given.empty()) return given == "soft" ? FloatAbi::Soft : FloatAbi::SoftFp;
    switch (triple.getEnvironment()) {
    case llvm::Triple::GNUEABI:
    case llvm::Triple::MuslEABI:
    case llvm::Triple::EABI:
    case llvm::Triple::Android: return FloatAbi::SoftFp;
    default: return FloatAbi::Hard;
    }
}

/// LLVM's 32-bit Arm processors have no floats and no vectors by themselves: as with a C compiler,
/// a name brings the unit that it is built with.
void addArmUnit(const MachineSpec& spec, std::vector<std::string>& features)
{
    const llvm::Triple triple(spec.triple);
    if (!isArm32(triple) || spec.cpu == "generic") return;
    std::vector<llvm::StringRef> unit;
    llvm::ARM::getFPUFeatures(llvm::ARM::getDefaultFPU(spec.cpu, llvm::ARM::parseCPUArch(spec.cpu)),
                              unit);
    for (const llvm::StringRef feature : unit) features.push_back(feature.str());
}

/// What every 64-bit RISC-V Linux system is built for; LLVM's bare name has integers alone.
void addRiscvBase(const MachineSpec& spec, std::vector<std::string>& features)
{
    const llvm::Triple triple(spec.triple);
    if (!triple.isRISCV64() || !triple.isOSLinux() || spec.cpu != defaultCpu(triple)) return;
    for (const char* feature : {"+m", "+a", "+f", "+d", "+c"}) features.emplace_back(feature);
}

/// LLVM ends the process where it cannot replace floating-point instructions by calls.
bool lacksFloats(const MachineSpec& spec)
{
    const llvm::Triple triple(spec.triple);
    auto target = findTarget(spec.triple);
    if (!target || !triple.isRISCV()) return false;
    const std::unique_ptr<llvm::MCSubtargetInfo> info(
        (*target)->createMCSubtargetInfo(spec.triple, spec.cpu, spec.features));
    return !info->checkFeatures("+d");
}

/// What no code is generated for.
Status checkMachine(const MachineSpec& spec)
{
    if (spec.floatAbi == FloatAbi::Soft)
        return makeError(
            DiagnosticCode::UnsupportedTarget,
            "code without floating-point instructions needs functions in their place, "
            "which compiled models do not bring; write -mfloat-abi=softfp, or give the "
            "C sources of the target `c` to a compiler",
            {.detail = "mfloat-abi"});
    if (lacksFloats(spec))
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "code for RISC-V needs a processor with doubles: add `-mattr=+f,+d`, or "
                         "give the C sources of the target `c` to a compiler",
                         {.detail = "mattr"});
    return kDone;
}

} // namespace

MachineSpec hostMachine()
{
    MachineSpec spec;
    spec.triple = llvm::Triple::normalize(llvm::sys::getDefaultTargetTriple());
    spec.cpu = llvm::sys::getHostCPUName().str();
    spec.features = hostFeatures();
    spec.isThisComputer = true;
    spec.backEnd = &llvmBackEnd;
    return spec;
}

Result<CpuTables> cpuTables(const std::string& triple)
{
    const std::string name =
        triple.empty() ? hostMachine().triple : llvm::Triple::normalize(triple);
    auto target = findTarget(name);
    if (!target) return target.error();
    const std::unique_ptr<llvm::MCSubtargetInfo> info(
        (*target)->createMCSubtargetInfo(name, "", ""));
    CpuTables tables;
    for (const auto& entry : info->getAllProcessorDescriptions())
        tables.cpus.emplace_back(entry.Key);
    for (const auto& entry : info->getAllProcessorFeatures())
        tables.features.emplace_back(entry.Key);
    return tables;
}

Result<MachineSpec> llvmMachine(const BackEnd& backEnd, const Target& target)
{
    const LlvmTraits& traits = *backEnd.llvm;
    const std::string triple = tripleOf(target, traits);
    auto tables = cpuTables(triple);
    if (!tables) return tables.error();
    const bool isNative = target.mcpu == "native";
    if (isNative && llvm::Triple(triple).getArch() != llvm::Triple(hostMachine().triple).getArch())
        return makeError(DiagnosticCode::BadTarget,
                         "`-mcpu=native` means this computer, but the triple is " + quoted(triple) +
                             "; name the CPU",
                         {.detail = "mcpu"});
    for (const Diagnostic& problem : validateTarget(target, *tables))
        if (problem.severity == Severity::Error) return problem;
    MachineSpec spec;
    spec.triple = triple;
    spec.isThisComputer = isThisComputer(target);
    const std::string named = llvmCpuName(target);
    spec.cpu = isNative ? llvm::sys::getHostCPUName().str()
                        : (named.empty() ? cpuOf(llvm::Triple(triple), traits) : named);
    std::vector<std::string> features;
    if (isNative) features.push_back(hostFeatures());
    spec.floatAbi = floatAbiOf(target, llvm::Triple(triple));
    spec.optLevel = static_cast<int>(target.intOption("opt-level", MachineSpec::kUsualOptLevel));
    if (!isNative) {
        addArmUnit(spec, features);
        addRiscvBase(spec, features);
    }
    features.insert(features.end(), target.mattr.begin(), target.mattr.end());
    spec.features = join(features, ",");
    spec.abi = target.stringOption("mabi");
    Status fine = traits.check ? traits.check(spec) : kDone;
    if (fine) fine = checkMachine(spec);
    if (!fine) return fine.error();
    return spec;
}

Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const MachineSpec& spec)
{
    auto target = findTarget(spec.triple);
    if (!target) return target.error();
    llvm::TargetOptions options;
    // Each operation rounds as the loop IR says: what is fused says so (tir::Intrinsic::Fma), or is
    // part of a function's expansion.
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    options.FloatABIType =
        spec.floatAbi == FloatAbi::Hard ? llvm::FloatABI::Hard : llvm::FloatABI::Soft;
    options.MCOptions.ABIName = spec.abi;
    options.FunctionSections = true;
    const llvm::Triple triple(spec.triple);
    std::optional<llvm::CodeModel::Model> model;
    if (triple.isRISCV()) model = llvm::CodeModel::Medium;
    const llvm::Reloc::Model place =
        spec.backEnd->llvm->isPlaced ? llvm::Reloc::Static : llvm::Reloc::PIC_;
    // Otherwise loads come as early as can be, and what they loaded is stored again.
    const std::string features = (isArm32(triple) ? "+use-misched," : "") + spec.features;
    std::unique_ptr<llvm::TargetMachine> machine(
        (*target)->createTargetMachine(spec.triple, spec.cpu, features, options, place, model,
                                       *llvm::CodeGenOpt::getLevel(spec.optLevel)));
    if (!machine)
        return makeError(DiagnosticCode::BadTarget,
                         "LLVM cannot create a code generator for " + spec.text());
    return machine;
}

bool isNeonOfWords(const llvm::TargetMachine& machine)
{
    const llvm::Triple& triple = machine.getTargetTriple();
    return isArm32(triple) && triple.isLittleEndian() &&
           machine.getMCSubtargetInfo()->checkFeatures("+neon");
}

bool multipliesTiles(const llvm::TargetMachine& machine)
{
    const llvm::Triple& triple = machine.getTargetTriple();
    return triple.getArch() == llvm::Triple::x86_64 && triple.isOSLinux() && !triple.isX32() &&
           machine.getMCSubtargetInfo()->checkFeatures("+amx-int8,+avx512vnni");
}

ByteDot byteDot(const llvm::TargetMachine& machine)
{
    const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
    const auto has = [&](const char* features) { return info.checkFeatures(features); };
    const llvm::Triple& triple = machine.getTargetTriple();
    if (triple.isAArch64() && triple.isLittleEndian() && has("+neon"))
        return !has("+dotprod") ? ByteDot::NeonMultiplyAdd
               : has("+i8mm")   ? ByteDot::NeonMatrix
                                : ByteDot::NeonSigned;
    if (isNeonOfWords(machine)) return ByteDot::NeonMultiplyAdd;
    if (!triple.isX86() || !has("+sse2")) return ByteDot::Scalar;
    if (has("+avx512vnni,+avx512vl")) return ByteDot::Fused;
    if (has("+avx512f")) return has("+avx512bw") ? ByteDot::MultiplyAdd : ByteDot::Scalar;
    if (has("+avxvnni")) return ByteDot::Fused;
    if (has("+avx") && !has("+avx2")) return ByteDot::Scalar; // wide vectors of floats only
    return has("+ssse3") ? ByteDot::SignedAdd : ByteDot::MultiplyAdd;
}

bool hasReciprocal(const llvm::TargetMachine& machine)
{
    const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
    return machine.getTargetTriple().isX86() && info.checkFeatures("+avx512f,+avx512dq");
}

bool hasNarrowLanes(const llvm::TargetMachine& machine)
{
    return isNeon(byteDot(machine)) && machine.getTargetTriple().isAArch64();
}

bool permutesBytes(const llvm::TargetMachine& machine)
{
    return machine.getTargetTriple().isX86() &&
           machine.getMCSubtargetInfo()->checkFeatures("+avx512bw,+avx512vbmi");
}

CodeTraits llvmCodeTraits(const MachineSpec& spec)
{
    const auto machine = createTargetMachine(spec);
    if (!machine) return {};
    CodeTraits traits{.hasByteTables = hasNarrowLanes(**machine) || permutesBytes(**machine)};
    switch (byteDot(**machine)) {
    case ByteDot::Scalar: break;
    case ByteDot::MultiplyAdd:
    case ByteDot::Fused: traits.byteProducts = kUInt8; break;
    case ByteDot::SignedAdd:
    case ByteDot::NeonMultiplyAdd:
    case ByteDot::NeonSigned:
    case ByteDot::NeonMatrix: traits.byteProducts = kInt8; break;
    }
    return traits;
}

Result<TargetFacts> llvmFacts(const MachineSpec& spec)
{
    auto machine = createTargetMachine(spec);
    if (!machine) return machine.error();
    const llvm::MCSubtargetInfo& info = *(*machine)->getMCSubtargetInfo();
    const llvm::Triple triple(spec.triple);
    const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
    TargetFacts facts;
    if (spec.backEnd->llvm->addFacts) {
        spec.backEnd->llvm->addFacts(info, facts);
    } else if (triple.isX86()) {
        const bool avx512 = has("+avx512f") && has("+avx512vl");
        facts.vectorBytes = avx512 ? 64 : has("+avx") ? 32 : 16;
        facts.vectorRegisters = avx512 ? 32 : 16;
        facts.hasFma = has("+fma") || avx512;
        facts.hasEmbeddedBroadcast = avx512;
    } else if (triple.isAArch64()) {
        facts.vectorRegisters = 32;
        facts.hasFma = true;
        facts.hasLaneOperand = facts.hasHalfLanes = true;
    } else if (triple.isARM() || triple.isThumb()) {
        const bool neon = has("+neon");
        facts.vectorBytes = neon ? 16 : 4;
        facts.vectorRegisters = neon ? 16 : 8;
        facts.hasFma = has("+vfp4");
        // Lanes of floats are operands of products that round before they are added.
        facts.hasHalfLanes = isNeonOfWords(**machine);
    } else if (triple.isRISCV()) {
        // Two registers at a time: as many lanes per instruction, half as many names.
        const int bytes = has("+zvl512b") ? 64 : has("+zvl256b") ? 32 : 16;
        facts.vectorBytes = has("+v") ? std::min(2 * bytes, 64) : 4;
        facts.vectorRegisters = 16;
        facts.hasFma = true;
    }
    if (const MachineChoice choice = llvmFigures(spec); choice.machine)
        applyMachine(*choice.machine, facts);
    if (!multipliesTiles(**machine)) facts.byteTileMacs = 0;
    if (spec.isThisComputer) {
        if (const long l1 = ::sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0) facts.l1Bytes = l1;
        if (const long l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) facts.l2Bytes = l2;
    }
    return facts;
}

} // namespace tenon::compiler
