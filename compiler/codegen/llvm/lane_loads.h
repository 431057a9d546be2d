// SPDX-License-Identifier: Apache-2.0
// mergeLaneLoads: four scalars that lie side by side become lanes of one vector.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace tenon::compiler {

/// AArch64 multiplies by one lane of a register for free: scalars that are loaded only to fill a
/// vector, four neighbours in one block, are loaded together and used lane by lane.
void mergeLaneLoads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

} // namespace tenon::compiler
