// SPDX-License-Identifier: Apache-2.0
// pairProducts: two products of narrow numbers and their sum by one instruction of x86.
#pragma once

#include <llvm/IR/Function.h>

namespace tenon::compiler {

/// Sums of products of widened bytes, or of widened 16-bit numbers, on vectors of up to
/// `vectorBytes`: two products become one instruction on pairs of 16 bits (pmaddwd), where several
/// sums read a pair or it is made outside the loop; any other product, whose factor stays, becomes
/// one with zeros as its second half. pmulld takes two steps of the same multiplier.
void pairProducts(llvm::Function& function, int vectorBytes);

} // namespace tenon::compiler
