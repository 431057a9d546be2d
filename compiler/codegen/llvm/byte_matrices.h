// SPDX-License-Identifier: Apache-2.0
// formByteMatrices: sums of products of bytes as products of small matrices.
#pragma once

#include <llvm/IR/Function.h>

namespace tenon::compiler {

/// AArch64's smmla multiplies two rows of eight bytes with two others, twice the products of an
/// sdot: two sums over the same weights, of two positions, become two sums of 2 x 2, from their
/// first values to where they are read.
void formByteMatrices(llvm::Function& function);

} // namespace tenon::compiler
