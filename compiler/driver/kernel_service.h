// SPDX-License-Identifier: Apache-2.0
// KernelService: code generation behind an interface of plain bytes, so that a crash inside LLVM is
// a diagnostic.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"
#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <memory>
#include <string>

namespace tenon::compiler {

/// What compiling one kernel yields.
struct KernelProducts
{
    std::string rule;      ///< schedule rule that chose the loops
    std::string trace;     ///< replayable schedule text
    std::string scheduled; ///< TIR after the schedule
    std::string lowered;   ///< flat TIR, what the line table refers to
    std::string object;
};

/// Thread-safe. compile() may be called for several kernels at a time.
class KernelService
{
public:
    virtual ~KernelService() = default;
    virtual Result<KernelProducts> compile(const tir::PrimFunc& unscheduled,
                                           const std::string& symbol, const MachineSpec& machine,
                                           const TargetFacts& facts) = 0;
};

/// Compiles in the calling process: the command line's choice.
std::shared_ptr<KernelService> inProcessKernelService();

/// Compiles in warm child processes running `program kernel-worker`: the window's choice. A worker
/// that dies is reported with its signal and replaced on the next request.
std::shared_ptr<KernelService> workerKernelService(std::string program);

/// The worker's main loop: requests on `fd`, replies on `fd`, until the peer closes. Returns the
/// exit code.
int runKernelWorker(int fd);

} // namespace tenon::compiler
