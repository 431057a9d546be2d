// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes where instructions multiply tiles of them.
#pragma once

#include "compiler/schedule/rules/matmul_parts.h"

namespace tenon::compiler {

/// Loops for the product, and what follows it, by tiles of bytes or else by parts of the depth;
/// false where it is neither.
bool scheduleByTilesOrParts(Schedule& schedule, const PackedProduct& product,
                            const TargetFacts& facts);

} // namespace tenon::compiler
