// SPDX-License-Identifier: Apache-2.0
// Arithmetic on tensors of a few elements, for shape computations only; models' data never comes
// here. Nothing is returned when the operands do not fit.
#pragma once

#include "core/tensor/tensor.h"

#include <optional>
#include <string_view>

namespace tenon::compiler {

using core::DataType;
using core::Tensor;

/// `op` is our operator's name: add, subtract, multiply, divide (integers truncate), floor_mod,
/// power, minimum, maximum, comparisons and logic; operands broadcast.
std::optional<Tensor> foldedBinary(std::string_view op, const Tensor& a, const Tensor& b);
/// negative, abs, logical_not of integers; floor, ceil, sqrt of floats, too.
std::optional<Tensor> foldedUnary(std::string_view op, const Tensor& a);
std::optional<Tensor> foldedWhere(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor foldedCast(const Tensor& a, DataType dtype);
/// One-dimensional tensors of one type.
std::optional<Tensor> foldedConcat(const std::vector<Tensor>& parts);
std::optional<Tensor> foldedGather(const Tensor& data, const Tensor& indices);
std::optional<Tensor> foldedSlice(const Tensor& data, int64_t start, int64_t end, int64_t step);
std::optional<Tensor> foldedRange(const Tensor& start, const Tensor& limit, const Tensor& delta);
/// The sum, prod, min or max of all elements.
std::optional<Tensor> foldedReduce(std::string_view op, const Tensor& data, bool keepsAxis);

} // namespace tenon::compiler
