// SPDX-License-Identifier: Apache-2.0
// compile(): model and options in, one immutable trace of everything that happened out.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/kernel_service.h"
#include "compiler/executor/c_sources.h"
#include "compiler/executor/glue.h"
#include "compiler/executor/memory.h"
#include "compiler/executor/program.h"
#include "compiler/frontend/loaded.h"
#include "compiler/package/package.h"
#include "compiler/passes/pass.h"
#include "compiler/schedule/schedule.h"
#include "core/jobs/job.h"
#include "core/target/thread_choice.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::compiler {

struct CompileOptions
{
    std::string target = "llvm -mcpu=native";
    ExecutorKind executor = ExecutorKind::Aot;
    int optLevel = 3;
    std::vector<std::string> passConfig; ///< "key=value"
    RunPassesOptions passes;
    std::string planner = "hill_climb";
    std::string cacheFolder; ///< objects of compiled kernels; empty: no cache
    unsigned runThreads = 0; ///< threads the kernels are shaped for; 0: as chooseThreads() says
    std::shared_ptr<KernelService> service; ///< null: in this process
    bool stopBeforeCodegen = false;         ///< passes only
};

/// One distinct kernel; several calls of the program may use it.
struct CompiledKernel
{
    std::string name;     ///< in the lowered module
    std::string symbol;   ///< hash-named symbol of the object
    std::string function; ///< readable alias, e.g. "tvmgen_default_fused_nn_conv2d_nn_relu"
    std::string tirHash;
    PrimFuncPtr unscheduled;
    std::string scheduleRule;
    std::string refusal;       ///< ScheduledKernel::refusal
    std::string scheduleTrace; ///< replayable text
    std::string scheduledText; ///< TIR after the schedule
    std::string loweredText;   ///< flat TIR; what the object's line table refers to
    std::shared_ptr<const std::string> object;
    bool fromCache = false;
    double compileMs = 0;
};

struct CompilePhases
{
    double importMs = 0;
    double passesMs = 0;
    double lowerMs = 0;   ///< schedules and lowering, summed over threads
    double codegenMs = 0; ///< wall time of all kernels, lowering included
    double planMs = 0;
    double totalMs = 0;
};

/// Everything the window, the command line and the tests may ask about one compile. Immutable once
/// returned.
struct CompileResult
{
    CompileOptions options;
    Target target;
    MachineSpec machine;
    TargetFacts facts;
    ThreadChoice threads;            ///< where the number in the facts comes from
    std::vector<Diagnostic> remarks; ///< on target and options: what nobody says, what is ignored
    std::shared_ptr<const Loaded> loaded;
    PassTrace passes;
    std::vector<CompiledKernel> kernels; ///< index = ProgramKernel index
    ExecutorProgram program;
    ProgramMemory memory;
    CompilePhases phases;
    std::string vmReason; ///< why the VM runs it though another executor was asked for; else empty
};

/// A warning for each kernel whose family's rule refused it: it is right, but slower than it could
/// be.
std::vector<Diagnostic> refusalWarnings(const CompileResult& result);

using CompileResultPtr = std::shared_ptr<const CompileResult>;

/// Runs passes, schedules, compiles and plans. Pure but for the object cache. Errors: the model's
/// own errors (first one, others as notes), BadTarget, UnsupportedTarget for kinds without a
/// generator, Cancelled.
Result<CompileResultPtr> compile(std::shared_ptr<const Loaded> loaded,
                                 const CompileOptions& options, JobContext& job,
                                 double importMs = 0);

enum class KernelText : uint8_t
{
    LlvmIr,
    Assembly
};

/// LLVM IR or assembly of one kernel, produced again on demand (the object itself is not
/// disassembled).
Result<std::string> kernelText(const CompileResult& result, size_t kernel, KernelText form);

/// The lowered module's main function as a straight line of kernel calls. `symbols`: kernel name ->
/// index of `kernels`.
Result<ExecutorProgram> buildProgram(const Module& lowered,
                                     const std::vector<CompiledKernel>& kernels);
/// As above with control flow and sizes known at run time only, as code for the VM; with the plan
/// of the values whose largest size is known.
struct VmProgram
{
    ExecutorProgram program;
    ProgramMemory memory;
};
Result<VmProgram> buildVmProgram(const Module& lowered, const std::vector<CompiledKernel>& kernels,
                                 std::string_view planner);
/// Why the lowered module needs the VM ("control flow", ...); empty: every executor can run it.
std::string vmReason(const Module& lowered);

/// Default folder of the kernel cache: $XDG_CACHE_HOME/tenon/kernels or ~/.cache/tenon/kernels.
std::string defaultCacheFolder();

/// Links or archives the result by the extension of `path` (.so, .o, .tar, .wasm, .elf),
/// atomically. Everything that is run, measured, sent or kept is written here: the bytes follow
/// from the model, its bindings and the options alone, wherever they are written, by whom and how
/// often. Glue and builtins objects come from the object cache when it has them.
Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path);

/// The whole program of a `c` target as C99 files; `interface` is the AOT executor's. Errors: what
/// writeCSources and writeCGraphSources say.
Result<std::vector<CSource>> cSources(const CompileResult& result, CInterface interface);
/// Writes them to a .tar, or to a folder that holds nothing else.
Result<PackageReport> writeCArtifact(const CompileResult& result, CInterface interface,
                                     const std::string& path);

/// Alignment of the workspace pool for the target: 64, or as the options of `c` say.
int64_t workspaceAlignment(const Target& target);

} // namespace tenon::compiler
