// SPDX-License-Identifier: Apache-2.0
// The types of a function that somebody wrote; the compiler's own are right by construction.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

namespace tenon::tir {

/// Operators and intrinsics have operands that they take: conditions are bool, arithmetic is of
/// numbers, `//` of integers, `T.exp` of floats. Error BadText quotes the expression. Expects what
/// verify() accepts.
Status checkTypes(const PrimFunc& function);

} // namespace tenon::tir
