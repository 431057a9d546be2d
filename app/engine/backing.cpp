// SPDX-License-Identifier: GPL-3.0-or-later
// Documents and the compiler's results behind them.
#include "app/engine/backing.h"

#include "app/engine/build_choices.h"
#include "app/engine/document_builder.h"

namespace tenon::app {

using core::Result;
using views::DocumentPtr;

std::shared_ptr<const Backing> backingOf(const DocumentPtr& document)
{
    return std::static_pointer_cast<const Backing>(document->backing);
}

compiler::CompileOptions compileOptions(const EngineOptions& engine,
                                        const views::BuildOptions& build)
{
    compiler::CompileOptions options;
    options.target = build.target.toStdString();
    options.executor = build.executor == QLatin1String("graph") ? compiler::ExecutorKind::Graph
                       : build.executor == QLatin1String("vm")  ? compiler::ExecutorKind::Vm
                                                                : compiler::ExecutorKind::Aot;
    options.optLevel = build.optLevel;
    for (const QString& key : build.passConfig) options.passConfig.push_back(key.toStdString());
    for (const QString& pass : build.disabledPasses)
        options.passes.disabled.push_back(pass.toStdString());
    options.runThreads = static_cast<unsigned>(build.threads);
    options.planner = build.planner.toStdString();
    // What makes no sense was said when it was chosen.
    static_cast<void>(compiler::namePools(poolLists(build), options));
    options.cacheFolder = engine.cacheFolder.toStdString();
    options.service = engine.kernels;
    return options;
}

std::optional<compiler::SteppedPass> steppedPass(const std::optional<views::SteppedPass>& stepped)
{
    if (!stepped) return std::nullopt;
    return compiler::SteppedPass{
        static_cast<size_t>(stepped->position), static_cast<size_t>(stepped->first),
        static_cast<size_t>(stepped->last), static_cast<size_t>(stepped->stride)};
}

Result<DocumentPtr> compileModel(const EngineOptions& engine, const DocumentPtr& document,
                                 const views::BuildOptions& build, core::JobContext& job)
{
    const auto backing = backingOf(document);
    auto result = compiler::compile(backing->loaded, compileOptions(engine, build), job);
    if (!result) return result.error();
    auto compiled = std::make_shared<views::Document>(*document);
    addResult(*result, *compiled);
    compiled->revision = document->revision + 1;
    compiled->backing = std::make_shared<const Backing>(Backing{backing->loaded, *result, build});
    return DocumentPtr(compiled);
}

Result<DocumentPtr> compiledFor(const EngineOptions& engine, const DocumentPtr& document,
                                const views::BuildOptions& build, core::JobContext& job)
{
    const auto backing = backingOf(document);
    if (backing->result && backing->build == build) return document;
    return compileModel(engine, document, build, job);
}

} // namespace tenon::app
