// SPDX-License-Identifier: Apache-2.0
// KernelService: code generation and linking behind an interface of plain bytes, so that a crash
// inside LLVM or LLD is a diagnostic.
#pragma once

#include "compiler/codegen/kernel_source.h"
#include "compiler/codegen/link_job.h"
#include "compiler/codegen/machine_spec.h"
#include "core/base/result.h"
#include "core/ir/tir/stmt.h"
#include "core/target/target_facts.h"

#include <memory>
#include <string>

namespace tenon::compiler {

/// What compiling one kernel yields.
struct KernelProducts
{
    std::string rule;      ///< schedule rule that chose the loops
    std::string refusal;   ///< ScheduledKernel::refusal
    std::string trace;     ///< replayable schedule text
    std::string scheduled; ///< TIR after the schedule
    std::string lowered;   ///< flat TIR, what the line table refers to
    std::string object;
};

/// Code that is given as text: the rest of what a back end does for an artifact and for the reader.
struct TextRequest
{
    enum class Kind : uint8_t
    {
        Builtins, ///< `text` is not used
        Glue,     ///< in the language of the back end
        Loops     ///< flat loop IR of the kernel `symbol`
    };
    Kind kind = Kind::Glue;
    std::string text;
    std::string symbol;
    int vectorBytes = 16;
    EmitForm form = EmitForm::Object; ///< Loops only; the others give objects
    MachineSpec machine;
};

struct LinkRequest
{
    LinkJob job;
    std::string output;
};

/// Thread-safe; any function may be called several times at once.
class KernelService
{
public:
    virtual ~KernelService() = default;
    virtual Result<KernelProducts> compile(const tir::PrimFunc& unscheduled,
                                           const std::string& symbol, const MachineSpec& machine,
                                           const TargetFacts& facts) = 0;
    virtual Result<std::string> emitText(const TextRequest& request) = 0;
    virtual Status link(const LinkRequest& request) = 0;
};

/// Works in the calling process: the command line's choice.
std::shared_ptr<KernelService> inProcessKernelService();

/// Chooses and applies schedules, lowers, and stops there: products without objects.
std::shared_ptr<KernelService> schedulingKernelService();

/// Works in the calling process on loops that somebody else has scheduled.
std::shared_ptr<KernelService> asWrittenKernelService();

/// Works in warm child processes running `program kernel-worker`: the window's choice. A worker
/// that dies is reported with its signal and replaced on the next request.
std::shared_ptr<KernelService> workerKernelService(std::string program);

/// The worker's main loop: requests on `fd`, replies on `fd`, until the peer closes. Returns the
/// exit code.
int runKernelWorker(int fd);

} // namespace tenon::compiler
