// SPDX-License-Identifier: Apache-2.0
// Quads: words of four bytes each, as expressions put them together.
#pragma once

#include "core/ir/tir/expr.h"

#include <array>

namespace tenon::compiler {

using namespace core;

/// What lies at each byte of a quad that `expr`, a bitwise_or, puts together, null where nothing
/// does; false for anything else.
bool collectQuad(const tir::ExprNode& expr, std::array<tir::Expr, 4>& parts);
/// The load of the first byte, of the first lane, where all bytes and lanes lie side by side; else
/// null.
tir::Expr firstByteOfQuads(const tir::ExprNode& expr);

} // namespace tenon::compiler
