// SPDX-License-Identifier: Apache-2.0
// compile(): model and options in, one immutable trace of everything that happened out.
#pragma once

#include "compiler/codegen/back_end.h"
#include "compiler/driver/kernel_service.h"
#include "compiler/executor/build_program.h"
#include "compiler/frontend/loaded.h"
#include "compiler/package/package.h"
#include "compiler/passes/pass.h"
#include "compiler/schedule/schedule.h"
#include "core/jobs/job.h"
#include "core/target/thread_choice.h"

#include <memory>
#include <optional>
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
    /// Memories that C source takes, in order of preference; none: one static array.
    std::vector<Pool> workspacePools;
    std::vector<Pool> constantPools; ///< none: constants lie one by one
    std::string cacheFolder;         ///< objects of compiled kernels; empty: no cache
    unsigned runThreads = 0; ///< threads the kernels are shaped for; 0: as chooseThreads() says
    std::shared_ptr<KernelService> service; ///< null: in this process
    bool stopBeforeCodegen = false;         ///< passes only
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
    bool takesIo = false;            ///< inputs and outputs lie in the workspace
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

/// Default folder of the kernel cache: $XDG_CACHE_HOME/tenon/kernels or ~/.cache/tenon/kernels.
std::string defaultCacheFolder();

/// Links or archives the result by the extension of `path` (.so, .o, .tar, .wasm, .elf),
/// atomically. Everything that is run, measured, sent or kept is written here: the bytes follow
/// from the model, its bindings and the options alone, wherever they are written, by whom and how
/// often. Glue and builtins objects come from the object cache when it has them.
Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path);

/// The whole program as source files. Errors: what the back end says, UnsupportedTarget where it
/// writes objects.
Result<std::vector<SourceFile>> programSources(const CompileResult& result, CInterface interface);
/// Writes them as that format or the suffix says, else to a folder that holds nothing else.
Result<PackageReport> writeSources(const CompileResult& result, CInterface interface,
                                   const std::string& path,
                                   std::optional<OutputFormat> format = std::nullopt);
/// A project of the template in a folder that is new or empty. Errors: the template's,
/// UnsupportedTarget where the back end writes objects, BadArgument for a folder that holds
/// something.
Status writeProject(const CompileResult& result, const ProjectTemplate& project,
                    const std::string& folder);
/// An artifact or sources, whichever the target's back end has, as that format or the suffix says;
/// `interface` is that of sources.
Result<PackageReport> writeProgram(const CompileResult& result, CInterface interface,
                                   const std::string& path,
                                   std::optional<OutputFormat> format = std::nullopt);

} // namespace tenon::compiler
