// SPDX-License-Identifier: Apache-2.0
// Conversion of one value to another element type, as the operator cast does it.
#pragma once

#include "core/ir/tir/expr.h"

namespace tenon::compiler {

/// Floats truncate towards zero and saturate at the limits of an integer type; bool is x != 0.
tir::Expr converted(core::DataType to, const tir::Expr& x);

} // namespace tenon::compiler
