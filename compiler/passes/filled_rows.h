// SPDX-License-Identifier: Apache-2.0
// Rows of chosen boxes that are filled up with zeros have a known number.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>

namespace tenon::compiler {

/// For the bind_dims of the count of vision.non_max_suppression whose rows are read by known
/// numbers only, behind zeros joined to them: those of the operator, which are zero from the count
/// on, and the count itself as a value. No shape is then open, as executors other than the VM need
/// it.
std::optional<Patch> keepFilledRows(const Module& module, const GraphFunction& function,
                                    const UseIndex& uses, const NodeRecord& node);

} // namespace tenon::compiler
