// SPDX-License-Identifier: Apache-2.0
// Symbolic dimensions in compute declarations: variables that become arguments of the kernel.
#pragma once

#include "compiler/ops/shapes.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon::compiler {

/// True when the operator's lower() takes dimensions that are only named.
bool takesSymbols(std::string_view op);

/// A dimension as an int64 extent. Symbols become variables of their own, marked by a name that
/// symbolOf() reads; LowerToTIR makes one variable of those that mean the same symbol.
tir::Expr extentOf(const Dim& dim);
/// The symbol that a variable stands for, or nothing.
std::optional<std::string> symbolOf(const tir::VarNode& var);

/// The attribute `sizes`, dimensions as text that stand for a shape; nothing when it is empty.
std::optional<Shape> sizesAttr(const OpView& op);
/// Product of extents.
tir::Expr productOf(const Exprs& extents);

} // namespace tenon::compiler
