// SPDX-License-Identifier: Apache-2.0
// Quads: four 8-bit values in one int32, the operand of dot-product instructions; the first value
// is in the lowest bits.
#pragma once

#include "compiler/ops/shapes.h"

#include <functional>

namespace tenon::compiler {

/// byte(0) | byte(1) << 8 | ... of `count` <= 4 unsigned 8-bit values, as int32.
tir::Expr quadOf(int64_t count, const std::function<tir::Expr(int64_t)>& byte);
/// sum over k of a's unsigned byte k times b's signed byte k.
tir::Expr dotOfQuads(const tir::Expr& a, const tir::Expr& b);

} // namespace tenon::compiler
