// SPDX-License-Identifier: Apache-2.0
// Nodes whose sizes are known at run time only: dimensions have names, which an operator takes.
#pragma once

#include "compiler/frontend/import/node_import.h"

namespace tenon::compiler {

/// An operator whose result has these dimensions; "sizes" is added to the attributes.
ValueRef emitSized(NodeImport& node, std::string op, std::vector<ValueRef> operands,
                   const Shape& shape, Attrs attrs = {});
/// Arithmetic on int64 values; numbers broadcast.
ValueRef wholeNumber(NodeImport& node, int64_t value);
/// 0, 1, .. as many as the dimension says, int64.
ValueRef countedTo(NodeImport& node, const Dim& count);
/// The size as a scalar of the type of `like`.
ValueRef sizeLike(NodeImport& node, const Dim& size, ValueRef like);
/// Sizes become attributes where they are known, but for a first dimension that stays.
ValueRef reshapedTo(NodeImport& node, ValueRef value, const Shape& shape);

} // namespace tenon::compiler
