// SPDX-License-Identifier: Apache-2.0
// How a fused call does its heaviest operator.
#pragma once

#include "core/artifact/call_method.h"
#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// Moves when all `members` of the call's function do; None when none of them has more than one way
/// of being done.
core::CallMethod methodOf(const core::Module& module, const std::vector<core::NodeId>& members);

/// Why a convolution among them has no blocked form; "" where none runs on rows or in plain loops.
std::string plainReason(const core::Module& module, const std::vector<core::NodeId>& members);

} // namespace tenon::compiler
