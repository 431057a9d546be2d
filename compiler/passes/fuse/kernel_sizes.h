// SPDX-License-Identifier: Apache-2.0
// The symbolic sizes that a kernel takes as arguments.
#pragma once

#include "core/ir/module.h"
#include "core/ir/tir/stmt.h"

#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Symbols of every type in a primitive function, in order of first appearance: the i-th is the
/// i-th size of the kernel it is lowered to.
std::vector<std::string> kernelSizes(const Module& module, const GraphFunction& function);

/// One variable for each symbol, in place of those that the compute declarations made.
tir::PrimFunc withSizes(tir::PrimFunc function, const std::vector<std::string>& symbols);

} // namespace tenon::compiler
