// SPDX-License-Identifier: Apache-2.0
// Quads: four 8-bit values in one int32, the operand of dot-product instructions; the first value
// is in the lowest bits.
#pragma once

#include "compiler/ops/shapes.h"

#include <functional>

namespace tenon::compiler {

/// byte(0) | byte(1) << 8 | ... of the bits of `count` <= 4 8-bit values, as int32.
tir::Expr quadOf(int64_t count, const std::function<tir::Expr(int64_t)>& byte);

bool isByte(DataType dtype); ///< int8 or uint8

/// What packed layers may say of their weight.
inline constexpr AttrSpec kNarrowWeightAttr = {"narrow_weight", "int",
                                               "1: no byte of a quad is -128", "0"};
bool hasNarrowWeight(const OpView& op);

/// What is known of the bytes that a dot product multiplies.
struct QuadTypes
{
    DataType values; ///< uint8 or int8; weights are int8
    bool isNarrow;   ///< no weight is -128
};
/// sum over k of a's byte k, a value, times b's byte k, a weight.
tir::Expr dotOfQuads(const tir::Expr& a, const tir::Expr& b, QuadTypes types);

} // namespace tenon::compiler
