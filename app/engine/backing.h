// SPDX-License-Identifier: GPL-3.0-or-later
// Backing: what a document keeps of the compiler.
#pragma once

#include "app/engine/engine.h"
#include "compiler/driver/compile.h"
#include "views/models/document.h"

namespace tenon::app {

/// The loaded model and, once compiled, the result and what it was compiled with.
struct Backing
{
    std::shared_ptr<const compiler::Loaded> loaded;
    compiler::CompileResultPtr result;
    views::BuildOptions build;
    compiler::CompileResultPtr passes = {}; ///< what opening it ran, without code
};

std::shared_ptr<const Backing> backingOf(const views::DocumentPtr& document);
compiler::CompileOptions compileOptions(const EngineOptions& engine,
                                        const views::BuildOptions& build);
/// As the compiler takes it.
std::optional<compiler::SteppedPass> steppedPass(const std::optional<views::SteppedPass>& stepped);
/// The document with passes, kernels, program and memory plan for the options.
core::Result<views::DocumentPtr> compileModel(const EngineOptions& engine,
                                              const views::DocumentPtr& document,
                                              const views::BuildOptions& build,
                                              core::JobContext& job);
/// What is compiled already for the options is taken as it is.
core::Result<views::DocumentPtr> compiledFor(const EngineOptions& engine,
                                             const views::DocumentPtr& document,
                                             const views::BuildOptions& build,
                                             core::JobContext& job);

} // namespace tenon::app
