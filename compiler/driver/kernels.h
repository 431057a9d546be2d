// SPDX-License-Identifier: Apache-2.0
// From the lowered module's loop functions to compiled objects: schedule, lower, emit, in parallel
// and cached.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/driver/kernel_service.h"

namespace tenon::compiler {

/// Compiles every kernel of `lowered`; results in the order of Module::kernels().
Result<std::vector<CompiledKernel>>
compileKernels(const Module& lowered, const MachineSpec& machine, const TargetFacts& facts,
               const std::string& cacheFolder, KernelService& service, JobContext& job);

} // namespace tenon::compiler
