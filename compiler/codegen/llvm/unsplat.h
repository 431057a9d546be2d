// SPDX-License-Identifier: Apache-2.0
// unsplat: the scalar behind a vector of equal lanes.
#pragma once

#include "core/ir/tir/expr.h"

namespace tenon::compiler {

/// What a broadcast repeats; any other expression as it is.
inline const tir::Expr& unsplat(const tir::Expr& expr)
{
    return expr->kind == tir::ExprKind::Broadcast ? expr->args[0] : expr;
}

} // namespace tenon::compiler
