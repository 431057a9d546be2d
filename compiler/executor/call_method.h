// SPDX-License-Identifier: Apache-2.0
// How a fused call does its heaviest operator, as text for people.
#pragma once

#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// "Winograd F(4x4,3x3)", "direct 1x1", "depthwise int8"; empty when none of the `members` of the
/// call's function has more than one way of being done.
std::string methodOf(const core::Module& module, const std::vector<core::NodeId>& members);

} // namespace tenon::compiler
