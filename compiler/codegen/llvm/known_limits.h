// SPDX-License-Identifier: Apache-2.0
// Limits before and behind roundings, which then need fewer steps.
#pragma once

#include <llvm/IR/Value.h>

namespace tenon::compiler {

/// Whether limits keep the number where adding and subtracting 1.5 * 2^23 rounds it.
bool isNearBefore(const llvm::Value* x);
/// What is read of a whole number once a zero point was added and it was limited; null where that
/// is not all that happens to it. What is beyond 2^22 saturates even if it is not rounded right.
const llvm::Value* limitedBehind(const llvm::Value& whole);
/// Whether nobody asks for the sign of a zero.
bool hasNoSignOfZero(const llvm::Value& value);

} // namespace tenon::compiler
