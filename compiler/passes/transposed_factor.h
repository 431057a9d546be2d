// SPDX-License-Identifier: Apache-2.0
// A matrix product whose second factor is transposed reads it as it lies.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>

namespace tenon::compiler {

/// For nn.matmul of `transpose(b)` that exchanges the last two axes, whatever it does to the
/// others: the product with `transpose_b` the other way round, of b without that exchange.
std::optional<Patch> untransposeFactor(const Module& module, const GraphFunction& function,
                                       const NodeRecord& node);

} // namespace tenon::compiler
