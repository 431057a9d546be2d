// SPDX-License-Identifier: Apache-2.0
// BackEnd: everything that sets one way of making code apart, as one constant per folder;
// back_ends.def lists them. Who wants to know what a target's code needs, is made of or is written
// as asks the row; nothing outside this room compares kinds, triples or suffixes.
#pragma once

#include "compiler/codegen/code_parts.h"
#include "compiler/codegen/kernel_source.h"
#include "compiler/codegen/link_job.h"
#include "compiler/codegen/machine_spec.h"
#include "compiler/codegen/output_format.h"
#include "compiler/codegen/project_template.h"
#include "compiler/executor/executor_kind.h"
#include "core/target/code_traits.h"
#include "core/target/machine_table.h"
#include "core/target/target_facts.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

struct LlvmTraits;

/// One form in which a back end writes models.
struct ArtifactForm
{
    OutputFormat format;
    std::span<const ExecutorKind> executors;
    bool fillsWeights = false; ///< weights are put in behind the linker: fillSection()

    bool runs(ExecutorKind executor) const;
};

/// How this computer runs what needs no runtime.
struct AloneRunner
{
    std::string_view program;  ///< on PATH, or its static build; empty: there is none
    std::string_view package;  ///< that has it
    bool isEmulator = false;   ///< its times are not the device's
    int newestVersion = 0;     ///< of the processor that it knows; 0: any
    std::string_view cpu = {}; ///< of the newest; an option of the emulator
    /// What stands before the program, another emulator's name first; null: this one's name.
    Result<std::vector<std::string>> (*options)(const Target&) = nullptr;
    /// Of an emulator that counts instructions: how long each takes there; 0: it takes real time.
    int instructionNs = 0;
};

/// A back end whose kernels become relocatable objects.
struct ObjectCode
{
    /// Thread-safe.
    Result<std::string> (*emitKernel)(const KernelSource&, const MachineSpec&, EmitForm);
    /// What the machine's code may call beside memory functions of its own; hidden.
    Result<std::string> (*emitBuiltins)(const MachineSpec&);
    /// What joins kernels to TVM's C ABI for the executor, in the language of emitGlue.
    std::string (*glueText)(const GlueParts&);
    Result<std::string> (*emitGlue)(const std::string& text, const MachineSpec&);
    Status (*writeData)(const DataParts&);
    /// Symbols that whoever loads the artifact finds, sorted.
    std::vector<std::string> (*exports)(const ExecutorProgram&, ExecutorKind, OutputFormat);
    Result<LinkJob> (*linkJob)(const LinkPlan&, OutputFormat);
};

/// A back end whose kernels become source for another compiler.
struct SourceCode
{
    Result<SourceKernel> (*writeKernel)(const tir::PrimFunc&, const std::string& symbol);
    Result<std::vector<SourceFile>> (*writeProgram)(const SourceProgram&);
    /// What programs of that executor run on, as source below `runtime`; may be nothing.
    Result<std::vector<SourceFile>> (*runtimeFiles)(ExecutorKind);
    /// Links the sources that lie in a folder into a program that carries its manifest; null: no
    /// programs.
    Status (*linkProgram)(const SourceProgram&, const std::string& folder,
                          const std::string& manifest, const std::string& path) = nullptr;
    /// What projects are made of them, by name.
    std::span<const ProjectTemplate* const> (*projects)() = nullptr;
};

struct BackEnd
{
    std::string_view name; ///< of its folder
    std::string_view kind; ///< of targets that it serves; empty: by the architecture only
    /// It also serves this architecture of a triple under every kind whose code is LLVM's.
    std::string_view architecture = {};
    std::span<const ArtifactForm> forms; ///< the first is what runs
    bool hasThreads = true;
    bool lendsScratch = false; ///< the planner gives kernels the memory that they want for a call
    AloneRunner runner = {};   ///< of the first form, where that needs no runtime
    /// machineSpec() adds the row.
    Result<MachineSpec> (*machine)(const BackEnd&, const Target&) = nullptr;
    Result<TargetFacts> (*facts)(const MachineSpec&) = nullptr;
    /// The row of the table of machines that the facts come from.
    MachineChoice (*figures)(const MachineSpec&) = nullptr;
    CodeTraits (*traits)(const MachineSpec&) = nullptr;
    int64_t (*workspaceAlignment)(const Target&) = nullptr; ///< of the pool; null: 64
    int64_t (*constantsAlignment)(const Target&) = nullptr; ///< where there are sources
    const ObjectCode* objects = nullptr;                    ///< one of the two is there
    const SourceCode* sources = nullptr;
    const LlvmTraits* llvm = nullptr; ///< where the code is LLVM's

    OutputFormat runnable() const { return forms.front().format; }
    bool runs(ExecutorKind executor) const; ///< in some form
};

std::span<const BackEnd* const> allBackEnds(); ///< from back_ends.def, by name

/// By its name; there is one, or it is a fault of ours.
const BackEnd& backEndNamed(std::string_view name);
/// Who makes code for the target, or null.
const BackEnd* findBackEnd(const Target& target);

/// Resolves and validates the target. Errors: UnsupportedTarget names the kinds that code is made
/// for; BadTarget.
Result<MachineSpec> machineSpec(const Target& target);

/// Vectors, registers and caches; caches are measured only for this computer. How many threads
/// there are is for chooseThreads() to say.
Result<TargetFacts> targetFacts(const MachineSpec& spec);
/// Whose figures those are.
MachineChoice machineFigures(const MachineSpec& spec);

/// Of all back ends, by name.
std::vector<const ProjectTemplate*> allProjectTemplates();
/// Error UnknownName names those that there are.
Result<const ProjectTemplate*> projectTemplate(std::string_view name);

/// What the machine's code can be written as with this executor. Errors name what it can.
Result<const ArtifactForm*> formFor(const MachineSpec& machine, ExecutorKind executor,
                                    OutputFormat format);

} // namespace tenon::compiler
