// SPDX-License-Identifier: Apache-2.0
// Zeros in place of what a pool leaves out beyond the edges of its image.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

using namespace core;

/// True where zeros beyond the edges are what padding is for means that count it, or do not matter
/// to maxima of what is not negative.
bool mayReadZeros(const Module& module, const NodeRecord& pool);

} // namespace tenon::compiler
