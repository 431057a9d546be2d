// SPDX-License-Identifier: GPL-3.0-or-later
// Passes, keys and planners out of the compiler's tables.
#include "app/engine/build_choices.h"

#include "app/engine/qt_text.h"
#include "compiler/memory/memory_plan.h"
#include "compiler/passes/pass_config.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::app {

std::vector<views::PassChoice> passChoices()
{
    std::vector<views::PassChoice> choices;
    for (const std::string_view name : compiler::defaultPipeline()) {
        const compiler::PassDef* pass = compiler::findPass(name);
        const QString shown = text(pass->name);
        const bool isThere =
            std::any_of(choices.begin(), choices.end(),
                        [&](const views::PassChoice& other) { return other.name == shown; });
        if (!isThere)
            choices.push_back({shown, text(pass->phase), text(pass->summary), pass->minOptLevel});
    }
    return choices;
}

std::vector<views::PassKey> passKeys()
{
    std::vector<views::PassKey> keys;
    for (const compiler::PassConfigKey& key : compiler::allPassConfigKeys())
        if (key.noEffect.empty()) keys.push_back({text(key.name), text(typeText(key.type))});
    return keys;
}

QStringList plannerNames()
{
    QStringList names;
    for (const compiler::PlannerDef& planner : compiler::allPlanners()) names << text(planner.name);
    return names;
}

compiler::PoolLists poolLists(const views::BuildOptions& options)
{
    return {{.names = options.workspacePools.toStdString()},
            {.names = options.constantPools.toStdString()}};
}

core::Status checkBuildOptions(const views::BuildOptions& options)
{
    std::vector<std::string> keys;
    for (const QString& key : options.passConfig) keys.push_back(key.toStdString());
    const auto config = compiler::parsePassConfig(keys);
    if (!config) return config.error();
    if (const auto planner = compiler::configuredPlanner(*config, options.planner.toStdString());
        !planner)
        return planner.error();
    compiler::CompileOptions how{.target = options.target.toStdString()};
    if (core::Status named = compiler::namePools(poolLists(options), how); !named) return named;
    for (const QString& pass : options.disabledPasses)
        if (!compiler::findPass(pass.toStdString()))
            return core::makeError(core::DiagnosticCode::UnknownName,
                                   "there is no pass " + core::quoted(pass.toStdString()));
    return core::kDone;
}

} // namespace tenon::app
