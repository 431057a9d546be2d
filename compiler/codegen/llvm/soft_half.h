// SPDX-License-Identifier: Apache-2.0
// 16-bit floats on machines that cannot convert them: their bits and binary32, by integer
// arithmetic on scalars and vectors. Rounds to nearest even; subnormals, infinities and NaN as IEEE
// 754 wants them.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace tenon::compiler {

struct LlvmTraits;

enum class HalfFormat : uint8_t
{
    Binary16,
    Bfloat16
};

/// True when LLVM would call a function of a compiler's library for conversions of this format, or
/// would round wrongly.
bool lacksHalf(const llvm::TargetMachine& machine, const LlvmTraits& traits, HalfFormat format);

/// binary32 of the bits (integers of 16 bits).
llvm::Value* halfFromBits(llvm::IRBuilderBase& b, llvm::Value* bits, HalfFormat format);
/// The nearest 16-bit float's bits.
llvm::Value* halfToBits(llvm::IRBuilderBase& b, llvm::Value* number, HalfFormat format);
/// binary32 of binary64 such that rounding it again to 16 bits gives what one rounding would.
llvm::Value* narrowedToOdd(llvm::IRBuilderBase& b, llvm::Value* number);

} // namespace tenon::compiler
