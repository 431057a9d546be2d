// SPDX-License-Identifier: Apache-2.0
// The stages that compiling a model and compiling a single function share.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/passes/pass_config.h"
#include "compiler/passes/value_trail.h"

namespace tenon::compiler {

/// Fills in everything that follows from target and options alone; the pass configuration comes
/// back. Errors: BadTarget, UnsupportedTarget, BadArgument.
Result<PassConfig> prepare(CompileResult& result);

/// Kernels, program and memory plan of the last module of `result.passes`.
Status generate(CompileResult& result, const std::string& cacheFolder, KernelService& service,
                JobContext& job);

/// The last module of `result.passes` with the kernels that the executor's program takes: where it
/// places tensors freely, parts of wholes have kernels of their own.
Module wiredModule(const CompileResult& result);

/// The program of the chosen executor over the calls of wiredModule(), and its memory plan. Only
/// the VM takes memory at run time; a module that needs it gets it whatever was chosen.
Status addProgram(CompileResult& result, const Module& wired);

/// compile() that tells in `trail` what became of the model's values; null: nobody asks.
Result<CompileResultPtr> compile(std::shared_ptr<const Loaded> loaded,
                                 const CompileOptions& options, JobContext& job, double importMs,
                                 ValueTrail* trail);

/// The kernels of `built` strung together by another main function over the same calls, as a
/// program and memory plan of its own. Kernels that `built` needed no more are compiled.
Result<CompileResultPtr> rewired(const CompileResult& built, const Module& lowered,
                                 JobContext& job);

} // namespace tenon::compiler
