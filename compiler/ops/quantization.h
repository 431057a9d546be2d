// SPDX-License-Identifier: Apache-2.0
// Quantization parameters: scale and zero point per tensor, per axis or per block of an axis, and
// the way back to a saturated integer.
#pragma once

#include "compiler/ops/shapes.h"

namespace tenon::compiler {

/// Parameters of operands `scale` and `zeroPoint` (which may be absent) for data of operand 0.
struct QuantizationSpec
{
    size_t scale;
    size_t zeroPoint;
    int64_t axis = 0;      ///< of the data, normalised; unused per tensor
    int64_t blockSize = 0; ///< elements along `axis` that share a parameter; 0: one each
};

/// Reads `axis` and `block_size` and checks that scale and zero point fit the data and each other.
Result<QuantizationSpec> readQuantization(const OpView& op, size_t scale, size_t zeroPoint,
                                          DataType zeroPointType);
/// The parameter `of` (scale or zero point) that element `indices` of the data has.
tir::Expr parameterAt(const QuantizationSpec& spec, const te::TensorRef& of, const Exprs& indices);

/// 8, 16 or 32 bit integers that hold quantized values.
bool isQuantizedType(DataType dtype);

/// A whole float as `dtype`, limited to what it holds; binary32 is enough up to 16 bits.
tir::Expr saturated(const tir::Expr& whole, DataType dtype);
/// What qnn.requantize may say of its scales.
inline constexpr std::string_view kSmallScaleAttr = "small_scale";

/// Integers that a number becomes.
struct IntegerRange
{
    DataType dtype;
    int64_t low, high;   ///< limits beside those of the type
    bool isNear = false; ///< no number is beyond 2^30
};
/// An int32 in `range`.
tir::Expr limited(const tir::Expr& value, const IntegerRange& range);
/// round(value) + zeroPoint in `range`, where `value` is binary32 and `zeroPoint` an int32: exact
/// for every value that does not saturate.
tir::Expr requantized(const tir::Expr& value, const tir::Expr& zeroPoint,
                      const IntegerRange& range);

} // namespace tenon::compiler
