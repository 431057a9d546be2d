// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to choose from when a model is compiled, and whether a choice makes sense.
#pragma once

#include "compiler/driver/named_pools.h"
#include "core/base/result.h"
#include "views/presenters/build_options.h"

#include <vector>

namespace tenon::app {

std::vector<views::PassChoice> passChoices();
/// Those that have an effect.
std::vector<views::PassKey> passKeys();
QStringList plannerNames();
/// What the options say of memories.
compiler::PoolLists poolLists(const views::BuildOptions& options);
core::Status checkBuildOptions(const views::BuildOptions& options);

} // namespace tenon::app
