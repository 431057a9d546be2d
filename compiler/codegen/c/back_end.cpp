// SPDX-License-Identifier: Apache-2.0
// C99 for any compiler, on small cores without an operating system.
#include "compiler/codegen/back_end.h"

#include "compiler/codegen/c/c_kernel.h"
#include "compiler/codegen/c/c_sources.h"
#include "core/base/text.h"
#include "core/target/c_options.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

int64_t alignmentOf(const Target& target, std::string_view option)
{
    return std::max<int64_t>(4, target.intOption(option, 16));
}

int64_t workspaceAlignment(const Target& target)
{
    return alignmentOf(target, "workspace-byte-alignment");
}

Result<MachineSpec> machine(const BackEnd&, const Target& target)
{
    return MachineSpec{.triple = "c", .cpu = target.mcpu};
}

MachineChoice figures(const MachineSpec& spec)
{
    const std::string_view name = spec.cpu;
    return chooseMachine(MachineFamily::ArmM, name.substr(0, name.find('+')),
                         [](std::string_view) { return false; });
}

/// Small cores: no vectors, as many float registers as a Cortex-M4 can keep busy. What is made for
/// them saves memory before time, and its tiles keep to the figures of the usual core.
Result<TargetFacts> facts(const MachineSpec&)
{
    TargetFacts facts;
    facts.vectorBytes = 4;
    facts.l1Bytes = 4096;
    facts.l2Bytes = 65536;
    return facts;
}

CodeTraits traits(const MachineSpec&) { return {.savesMemory = true}; }

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
                     .constantsAlignment = alignmentOf(program.target, "constants-byte-alignment"),
                     .title = titleOf(program)};
    const bool isGraph = program.executor == ExecutorKind::Graph;
    auto files = isGraph ? writeCGraphSources(c) : writeCSources(c);
    if (files && program.bringsHeaders && !isGraph && program.interface == CInterface::Packed)
        for (SourceFile& header : runtimeHeaders()) files->push_back(std::move(header));
    return files;
}

constexpr ExecutorKind kExecutors[] = {ExecutorKind::Graph, ExecutorKind::Aot};
constexpr ArtifactForm kForms[] = {{OutputFormat::Folder, kExecutors},
                                   {OutputFormat::Tar, kExecutors}};
constexpr SourceCode kSources = {emitCKernel, writeProgram};

} // namespace

extern constinit const BackEnd cBackEnd = {.name = "c",
                                           .kind = "c",
                                           .forms = kForms,
                                           .hasThreads = false,
                                           .lendsScratch = true,
                                           .machine = machine,
                                           .facts = facts,
                                           .figures = figures,
                                           .traits = traits,
                                           .workspaceAlignment = workspaceAlignment,
                                           .sources = &kSources};

} // namespace tenon::compiler
