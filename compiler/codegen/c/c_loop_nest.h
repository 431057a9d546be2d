// SPDX-License-Identifier: Apache-2.0
// Loops of known extents around one store, read as one loop.
#pragma once

#include "compiler/codegen/c/c_expr.h"
#include "core/ir/tir/visit.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

/// Loops from 0, outermost first.
struct LoopNest
{
    std::vector<tir::Loop> loops;
    tir::Stmt store;
};

std::optional<LoopNest> nestOf(const tir::Stmt& root);
/// The lanes of a vector that is stored are a loop, too.
std::optional<LoopNest> scalarNestOf(const tir::Stmt& root);

/// What one step of a loop adds to an index; nothing where that is no number.
std::optional<int64_t> stepOf(const tir::Expr& index, const tir::Var& var);
/// The steps that one loop over all of `loops` would take; nothing where they are no such loop.
std::optional<int64_t> stepOfAll(const tir::Expr& index, const std::vector<tir::Loop>& loops);
/// Where all loops start.
tir::Expr firstOf(const tir::Expr& index, const std::vector<tir::Loop>& loops);

} // namespace tenon::compiler
