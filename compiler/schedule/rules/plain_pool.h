// SPDX-License-Identifier: Apache-2.0
// Pools of plain images, whose columns lie side by side.
#pragma once

#include "compiler/schedule/rules/rule.h"

namespace tenon::compiler {

/// Loops for the pool and everything around it; false where `pool` is none of plain images of
/// enough columns, and nothing was done.
bool schedulePlainPool(Schedule& schedule, const std::string& pool, const TargetFacts& facts);

/// True when the block copies elements of a parameter, widened perhaps, or fills in a constant.
bool isPlainPad(const Schedule& schedule, const std::string& pad);
/// True when the block converts elements of a parameter to a larger type, and does nothing else.
bool isWidening(const Schedule& schedule, const std::string& block);

} // namespace tenon::compiler
