// SPDX-License-Identifier: Apache-2.0
// Optimization levels side by side, as JSON and as text.
#pragma once

#include "app/cli/command.h"
#include "remote/measure/opt_levels.h"

namespace tenon::cli {

Json levelsJson(const std::vector<remote::OptLevel>& levels);
std::string levelsText(const std::vector<remote::OptLevel>& levels);

} // namespace tenon::cli
