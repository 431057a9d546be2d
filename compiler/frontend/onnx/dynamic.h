// SPDX-License-Identifier: Apache-2.0
// Converters of operators whose shape inputs are computed at run time: integers become named sizes.
#pragma once

#include "compiler/frontend/onnx/node_import.h"

namespace tenon::compiler {

/// An operator whose result has these dimensions; "sizes" is added to the attributes.
ValueRef emitSized(NodeImport& node, std::string op, std::vector<ValueRef> operands,
                   const Shape& shape, Attrs attrs = {});
/// Arithmetic on int64 values; numbers broadcast.
ValueRef wholeNumber(NodeImport& node, int64_t value);

void reshapeAtRunTime(NodeImport& node, bool zeroIsSize);
void expandAtRunTime(NodeImport& node);
/// ConstantOfShape.
void fillAtRunTime(NodeImport& node);
void rangeAtRunTime(NodeImport& node);
/// `axes` and `steps` are known, bounds are not.
void sliceAtRunTime(NodeImport& node, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& steps);

} // namespace tenon::compiler
