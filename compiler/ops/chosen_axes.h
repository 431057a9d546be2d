// SPDX-License-Identifier: Apache-2.0
// Axes that data of indices choose from: there is nothing to choose in one without elements, and
// no index is valid there.
#pragma once

#include "compiler/ops/op.h"

#include <vector>

namespace tenon::compiler {

/// Axes of operand 0 that operand 1 of take, gather, gather_nd, scatter_elements and scatter_nd
/// holds indices of; none for other operators.
std::vector<size_t> chosenAxes(std::string_view op, const Attrs& attrs, const Shape& data,
                               const Shape& indices);

/// How many choices operand 1 makes.
Dim choiceCount(std::string_view op, const Shape& indices);

/// Error ShapeMismatch where there are choices and an axis is known to be empty.
Status needChoices(const OpView& op);

} // namespace tenon::compiler
