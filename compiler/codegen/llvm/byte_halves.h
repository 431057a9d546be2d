// SPDX-License-Identifier: Apache-2.0
// joinByteHalves: four bytes that are widened, and the four beside them, as one register.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace tenon::compiler {

/// AArch64 widens eight bytes by one instruction and takes either half of the result for free:
/// loads of four bytes that lie side by side and are only widened become one. What multiplies a
/// high half is copied to both halves of a register, where that is not in the same block.
void joinByteHalves(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

} // namespace tenon::compiler
