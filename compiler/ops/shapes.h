// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic shared by the operators: broadcasting, axes, and dimensions as loop extents.
#pragma once

#include "compiler/ops/attr_reader.h"
#include "compiler/ops/op.h"

#include <functional>
#include <optional>
#include <vector>

namespace tenon::compiler {

using Exprs = std::vector<tir::Expr>;

/// Numpy broadcasting; ShapeMismatch names both shapes.
Result<Shape> broadcastShapes(const OpView& op, const Shape& a, const Shape& b);
/// Index of an element of a tensor of shape `shape` under the indices of the broadcast result.
Exprs broadcastIndices(const Exprs& shape, const Exprs& indices, const Exprs& result);
/// The size that two dimensions stand for which must be equal, a number where one is; nothing when
/// they cannot be. Where nobody knows, sizeChecks() says what to check.
std::optional<Dim> agreedDim(const Dim& a, const Dim& b);

/// Negative axes count from the end; BadAttribute when out of range.
Result<int64_t> normalAxis(const OpView& op, int64_t axis, size_t rank);
/// Sorted and unique.
Result<std::vector<int64_t>> normalAxes(const OpView& op, std::vector<int64_t> axes, size_t rank);

Status needRank(const OpView& op, size_t operand, size_t rank);
Status needSameDtype(const OpView& op, size_t a, size_t b);

/// Constant dimensions as int64 extents; lowering runs on constant shapes only.
Exprs extents(const Shape& shape);
std::vector<int64_t> constants(const Shape& shape);
/// Product of constant extents.
int64_t countOf(const Exprs& shape);

/// The same element of one of several tensors: of that whose number fulfils the condition, of the
/// last where no other does.
tir::Expr elementOfPart(const te::Tensors& parts, const Exprs& at,
                        const std::function<tir::Expr(int64_t)>& isOf);

/// Element of `tensor` whose row-major position equals that of `indices` in `shape`; simplified, so
/// that pure splits and merges of dimensions leave no division behind.
tir::Expr atSamePosition(const te::TensorRef& tensor, const Exprs& shape, const Exprs& indices);

/// An index of any integer type made a valid one, so that wrong data cannot read or write outside:
/// negative ones count from the end, others outside become the nearest.
tir::Expr safeIndex(const tir::Expr& index, const tir::Expr& extent);

/// Row-major position of `indices` in `shape`.
tir::Expr flatIndex(const Exprs& shape, const Exprs& indices);

/// Elements (constant shapes; symbolic dimensions count as 1) and bytes moved, for cost functions.
double elements(const TensorType& type);
double bytesMoved(const OpView& op);

} // namespace tenon::compiler
