// SPDX-License-Identifier: Apache-2.0
// How much may be computed from constants alone: a file of a few KB can ask for terabytes.
#pragma once

#include "core/base/result.h"
#include "core/ir/module.h"

namespace tenon::compiler {

using namespace core;

/// Bytes of all constants of the module.
int64_t constantBytes(const Module& module);

/// Bytes that folding may add in one run, given those of the constants there are.
int64_t foldedBytesAllowed(int64_t constantBytes);

/// True where a result of so many bytes may be folded that grows constants of `from` bytes, as
/// broadcasts, tiles and transformed filters do.
bool growsLittle(int64_t bytes, int64_t from);

/// OutOfMemory where results that depend on constants only take far more than the constants
/// themselves: whether they are folded or computed in every run, no model needs that. Nodes without
/// types are left out.
Status checkConstantGrowth(const Module& module);

} // namespace tenon::compiler
