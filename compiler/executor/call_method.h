// SPDX-License-Identifier: Apache-2.0
// How a fused call does its heaviest operator.
#pragma once

#include "core/artifact/call_method.h"
#include "core/ir/module.h"

#include <vector>

namespace tenon::compiler {

/// None when none of the `members` of the call's function has more than one way of being done.
core::CallMethod methodOf(const core::Module& module, const std::vector<core::NodeId>& members);

} // namespace tenon::compiler
