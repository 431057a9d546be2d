// SPDX-License-Identifier: Apache-2.0
// copyPairsOfBytes: halves of quads that every lane multiplies are copied by the load itself.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace tenon::compiler {

/// Where AArch64 has no dot product, sums of products of bytes take a quad as two pairs, each for
/// all lanes: one load makes both copies, or those of two quads that lie side by side, where
/// copying lanes takes an instruction each.
void copyPairsOfBytes(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

} // namespace tenon::compiler
