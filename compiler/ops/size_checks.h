// SPDX-License-Identifier: Apache-2.0
// Dimensions that an operator's typing takes to be equal though nobody knows them yet.
#pragma once

#include "core/ir/module.h"

#include <utility>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Pairs that must be equal when the node runs; empty where all dimensions are known.
std::vector<std::pair<Dim, Dim>> sizeChecks(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
