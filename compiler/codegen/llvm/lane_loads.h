// SPDX-License-Identifier: Apache-2.0
// mergeLaneLoads: scalars that lie side by side become lanes of one vector.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include <vector>

namespace tenon::compiler {

/// A load at so many elements from the first one that was seen of its neighbours.
struct Place
{
    llvm::LoadInst* load;
    int offset;
};
using Neighbours = std::vector<Place>;

/// The one that the program comes to first.
const Place& firstOf(const Neighbours& loads);

/// Address of the first of sorted neighbours, known where the program comes to any of them.
llvm::Value* addressOf(llvm::IRBuilderBase& builder, const Neighbours& sorted);

/// All splats of a loaded scalar; empty when it serves anything else.
std::vector<llvm::ShuffleVectorInst*> splatsOf(llvm::LoadInst& load);

/// The loads that `isWanted`, group by group: known distances apart, sorted by them, and with no
/// write to memory in between.
void visitNeighbours(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution,
                     llvm::function_ref<bool(llvm::LoadInst&)> isWanted,
                     llvm::function_ref<void(const Neighbours&)> visit);

/// Which lanes are operands of products: ARMv7 has those of 16 bits.
enum class LaneOperands
{
    Halves,
    All
};

/// AArch64 multiplies by one lane of a register for free: scalars that are loaded only to fill a
/// vector, four neighbours in one block or eight of 16 bits, are loaded together and used lane by
/// lane. So are halves of registers which are multiplied into whole ones.
void mergeLaneLoads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                    LaneOperands operands);

} // namespace tenon::compiler
