// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to choose from when a model is compiled, and whether a choice makes sense.
#pragma once

#include "compiler/memory/memory_plan.h"
#include "core/base/result.h"
#include "views/presenters/build_options.h"

#include <vector>

namespace tenon::app {

std::vector<views::PassChoice> passChoices();
/// Those that have an effect.
std::vector<views::PassKey> passKeys();
QStringList plannerNames();
/// The memories that the options name.
struct BuildPools
{
    std::vector<compiler::Pool> workspace;
    std::vector<compiler::Pool> constants;
};
core::Result<BuildPools> buildPools(const views::BuildOptions& options);
core::Status checkBuildOptions(const views::BuildOptions& options);

} // namespace tenon::app
