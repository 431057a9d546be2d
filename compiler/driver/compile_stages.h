// SPDX-License-Identifier: Apache-2.0
// The stages that compiling a model and compiling a single function share.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/passes/pass_config.h"

namespace tenon::compiler {

/// Fills in everything that follows from target and options alone; the pass configuration comes
/// back. Errors: BadTarget, UnsupportedTarget, BadArgument.
Result<PassConfig> prepare(CompileResult& result);

/// Kernels, program and memory plan of the last module of `result.passes`.
Status generate(CompileResult& result, const std::string& cacheFolder, KernelService& service,
                JobContext& job);

} // namespace tenon::compiler
