// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes where instructions multiply tiles of them.
#pragma once

#include "compiler/schedule/rules/matmul_parts.h"

namespace tenon::compiler {

/// True where weights are words for vectors and products by tiles take less time.
bool multipliesTiles(const PackedProduct& product, const TargetFacts& facts);
/// Loops for the product and what follows it.
void scheduleProductByTiles(Schedule& schedule, const PackedProduct& product,
                            const TargetFacts& facts);

} // namespace tenon::compiler
