// SPDX-License-Identifier: Apache-2.0
// A product of rows with what will be a constant matrix becomes a dense layer.
#pragma once

#include "compiler/passes/rewrite.h"

namespace tenon::compiler {

/// Of a matmul whose matrix is a constant once what makes it is folded; importers see constants
/// alone. Every bit of the result stays.
std::optional<Patch> matmulToDense(const Module& module, const GraphFunction& function,
                                   const NodeRecord& node);

} // namespace tenon::compiler
