// SPDX-License-Identifier: Apache-2.0
// A shape as the attributes of reshape.
#pragma once

#include "compiler/ops/op.h"

namespace tenon::compiler {

/// newshape, with a -1 for one dimension that is open; sizes where more are. The number of elements
/// is what it was.
Attrs shapeAttrs(const Shape& shape);
/// Whether a reshape can make one matrix of all matrices: its depth is known, and where their
/// number is open they are not empty.
bool canBeRows(const Shape& shape);
/// Rows of that matrix and its columns.
Shape rowsOf(const Shape& shape);

} // namespace tenon::compiler
