// SPDX-License-Identifier: Apache-2.0
// From the lowered module's loop functions to compiled objects: schedule, lower, emit, in parallel
// and cached.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/driver/kernel_service.h"

#include <set>
#include <string>

namespace tenon::compiler {

/// Names of the kernels that the open functions of the module call.
std::set<std::string> calledKernels(const Module& lowered);

/// Compiles every kernel that `lowered` calls; results in the order of Module::kernels().
Result<std::vector<CompiledKernel>>
compileKernels(const Module& lowered, const MachineSpec& machine, const TargetFacts& facts,
               const std::string& cacheFolder, KernelService& service, JobContext& job);

} // namespace tenon::compiler
