// SPDX-License-Identifier: Apache-2.0
// How loops walk a tensor, for the lowering steps that ask for its elements ahead of time.
#pragma once

#include "compiler/schedule/affine.h"

#include <vector>

namespace tenon::compiler {

inline constexpr int64_t kLineBytes = 64;

/// The variable's coefficient in the index; in min(variable * a + b, c), by which the last tile
/// overlaps the one before it, its coefficient there.
int64_t stepAlong(const Affine& index, const tir::Var& var);
/// True when the atom's variables are those of these loops.
bool isOfLoops(const tir::Expr& atom, const std::vector<tir::Stmt>& loops);
/// A read nobody uses, at what the index is in these loops alone and `offset` elements further.
tir::Stmt requestAt(const tir::Buffer& buffer, const Affine& index,
                    const std::vector<tir::Stmt>& loops, int64_t offset);

} // namespace tenon::compiler
