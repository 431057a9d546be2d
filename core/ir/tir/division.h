// SPDX-License-Identifier: Apache-2.0
// Which integer divisions may meet a zero at run time: those are faults of the data that a kernel
// reports, where index arithmetic divides by sizes that are not zero while its loops run.
#pragma once

#include "core/ir/tir/simplify.h"

#include <unordered_set>

namespace tenon::tir {

/// Variables bound to what was loaded.
using LoadedVars = std::unordered_set<const VarNode*>;

/// True when the value depends on what is in a buffer.
bool isLoaded(const Expr& expr, const LoadedVars& vars);

/// True for a quotient or remainder of integers, of data, whose divisor may be zero or, in a signed
/// one, -1: the lowest number divided by -1 overflows, which processors may trap.
bool needsSafeDivisor(const ExprNode& node, const Ranges& ranges, const LoadedVars& vars);

/// True when a run of the statement may divide an integer by zero.
bool mayDivideByZero(const Stmt& body, LoadedVars loaded = {});

} // namespace tenon::tir
