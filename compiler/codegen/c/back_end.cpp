// SPDX-License-Identifier: Apache-2.0
// C99 for any compiler, on small cores without an operating system.
#include "compiler/codegen/back_end.h"

#include "compiler/codegen/c/c_kernel.h"
#include "compiler/codegen/c/c_sources.h"
#include "compiler/codegen/c/c_system_library.h"
#include "compiler/codegen/c/micro_image.h"
#include "compiler/codegen/c/micro_program.h"
#include "compiler/codegen/c/project/templates.h"
#include "core/base/text.h"
#include "core/base/tool.h"
#include "core/target/c_options.h"
#include "core/target/micro_core.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr std::string_view kHelium = "+mve.fp";

int64_t alignmentOf(const Target& target, std::string_view option)
{
    return std::max<int64_t>(4, target.intOption(option, 16));
}

int64_t workspaceAlignment(const Target& target)
{
    return alignmentOf(target, "workspace-byte-alignment");
}

int64_t constantsAlignment(const Target& target)
{
    return alignmentOf(target, "constants-byte-alignment");
}

/// Cores whose vectors GCC's <arm_mve.h> writes, unless some option takes them away.
bool hasHelium(const Target& target)
{
    const bool isCore =
        target.mcpu == "cortex-m52" || target.mcpu == "cortex-m55" || target.mcpu == "cortex-m85";
    return isCore && target.stringOption("march").empty() &&
           target.stringOption("mfloat-abi") != "soft";
}

Result<MachineSpec> machine(const BackEnd&, const Target& target)
{
    return MachineSpec{.triple = "c",
                       .cpu = target.mcpu,
                       .features = hasHelium(target) ? std::string(kHelium) : ""};
}

MachineChoice figures(const MachineSpec& spec)
{
    const std::string_view name = spec.cpu;
    const auto family = name.starts_with("rv32") ? MachineFamily::RiscV : MachineFamily::ArmM;
    return chooseMachine(family, name.substr(0, name.find('+')),
                         [](std::string_view) { return false; });
}

/// Small cores: no vectors but Helium's, as many float registers as a Cortex-M4 can keep busy. What
/// is made for them saves memory before time. A core that the target does not name keeps the usual
/// figures.
Result<TargetFacts> facts(const MachineSpec& spec)
{
    TargetFacts facts;
    facts.vectorBytes = 4;
    if (spec.features == kHelium) {
        facts.vectorBytes = 16;
        facts.vectorRegisters = 8;
        facts.hasFma = true;
    }
    facts.l1Bytes = 4096;
    facts.l2Bytes = 65536;
    if (!spec.cpu.empty()) applyMachine(*figures(spec).machine, facts);
    return facts;
}

/// Cortex-M multiplies signed bytes, in pairs where it has the DSP extension.
CodeTraits traits(const MachineSpec& spec)
{
    CodeTraits traits{.savesMemory = true};
    if (spec.cpu.starts_with("cortex-m")) traits.byteProducts = kInt8;
    return traits;
}

/// The board that has the target's core, counting instructions; semihosting is its way to files.
Result<std::vector<std::string>> boardOptions(const Target& target)
{
    const MicroCore* core = microCoreOf(target);
    if (!core || core->board.empty()) {
        std::vector<std::string> cores;
        for (const MicroCore& each : allMicroCores())
            if (!each.board.empty()) cores.emplace_back(each.cpu);
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "no emulated board has the core of " + quoted(target.text()) +
                             "; -mcpu names one of " + join(cores, ", "),
                         {.detail = "mcpu"});
    }
    if (!hasTool(std::string(core->family->emulator)))
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "code for " + quoted(target.text()) +
                             " does not run on this computer by "
                             "itself, and " +
                             quoted(std::string(core->family->emulator)) +
                             " is not on PATH; install " +
                             std::string(core->family->emulatorPackage));
    std::vector<std::string> words = microEmulator(*core, kInstructionShift);
    words.insert(words.end(), {"-serial", "none", "-kernel"});
    return words;
}

std::string titleOf(const SourceProgram& program)
{
    std::string title = "Model `" + program.model +
                        "`, written by Tenon " TENON_VERSION " for the target " +
                        quoted(program.target.text()) + ".";
    if (const auto options = cCompilerOptions(program.target); !options.empty())
        title += " To be compiled with " + join(options, " ") + ".";
    return title;
}

Result<std::vector<SourceFile>> writeProgram(const SourceProgram& program)
{
    const CProgram c{.program = program.program,
                     .memory = program.memory,
                     .kernels = program.kernels,
                     .helpers = cHelpers(join(program.kernels, "")),
                     .interface = program.interface,
                     .alignment = workspaceAlignment(program.target),
                     .constantsAlignment = constantsAlignment(program.target),
                     .title = titleOf(program),
                     .isMarked = program.isMarked};
    const bool isGraph = program.executor == ExecutorKind::Graph;
    auto files = isGraph ? writeCGraphSources(c) : writeCSources(c);
    if (files && program.bringsHeaders && !isGraph && program.interface == CInterface::Packed)
        for (SourceFile& header : runtimeHeaders()) files->push_back(std::move(header));
    const bool isPacked = !isGraph && program.interface == CInterface::Packed;
    const auto isCallers = [](const Pool& pool) { return pool.isCallers; };
    const ProgramMemory& memory = program.memory;
    const bool ownsMemory =
        std::none_of(memory.problem.pools.begin(), memory.problem.pools.end(), isCallers) &&
        std::none_of(memory.constants.pools.begin(), memory.constants.pools.end(), isCallers);
    if (files && program.bringsHeaders && isPacked && ownsMemory)
        files->push_back(cSystemLibrary(c));
    return files;
}

constexpr ExecutorKind kExecutors[] = {ExecutorKind::Graph, ExecutorKind::Aot};
constexpr ArtifactForm kForms[] = {{OutputFormat::Program, kExecutors},
                                   {OutputFormat::Folder, kExecutors},
                                   {OutputFormat::Tar, kExecutors},
                                   {OutputFormat::ModelLibrary, kExecutors}};
constexpr SourceCode kSources = {emitCKernel, writeProgram, microRuntimeFiles, linkMicroProgram,
                                 cProjectTemplates};

} // namespace

extern constinit const BackEnd cBackEnd = {.name = "c",
                                           .kind = "c",
                                           .forms = kForms,
                                           .hasThreads = false,
                                           .lendsScratch = true,
                                           .runner = {.program = "qemu-system-arm",
                                                      .package = "qemu-system-arm",
                                                      .isEmulator = true,
                                                      .options = boardOptions,
                                                      .instructionNs = 1 << kInstructionShift},
                                           .machine = machine,
                                           .facts = facts,
                                           .figures = figures,
                                           .traits = traits,
                                           .workspaceAlignment = workspaceAlignment,
                                           .constantsAlignment = constantsAlignment,
                                           .sources = &kSources};

} // namespace tenon::compiler
