// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the passes again: ids of nodes are handed out once, so that whatever points at nodes comes
// from the same run.
#include "app/engine/pass_steps.h"

#include "app/engine/backing.h"
#include "app/engine/document_builder.h"
#include "compiler/driver/planning_problem.h"

namespace tenon::app {

using core::Result;
using views::DocumentPtr;

Result<DocumentPtr> stepPass(const EngineOptions& engine, const DocumentPtr& document,
                             const views::BuildOptions& build,
                             const std::optional<views::SteppedPass>& stepped,
                             core::JobContext& job)
{
    const auto backing = backingOf(document);
    // What is shown was made with other options, perhaps, than are chosen by now.
    compiler::CompileOptions options = backing->result   ? backing->result->options
                                       : backing->passes ? backing->passes->options
                                                         : compileOptions(engine, build);
    options.passes.stepped = steppedPass(stepped);
    options.stopBeforeCodegen = document->kernels.empty();
    auto result = compiler::compile(backing->loaded, options, job);
    if (!result) return result.error();
    const bool isPlanned = document->isCompiled() && options.stopBeforeCodegen;
    if (isPlanned) result = compiler::planOnly(**result, job);
    if (!result) return result.error();
    auto made = std::make_shared<views::Document>(*document);
    addResult(*result, *made);
    made->measurement = document->measurement; // of the same calls
    made->stepped = stepped;
    made->revision = document->revision + 1;
    Backing kept = *backing;
    (backing->result ? kept.result : kept.passes) = *result;
    made->backing = std::make_shared<const Backing>(std::move(kept));
    return DocumentPtr(made);
}

} // namespace tenon::app
