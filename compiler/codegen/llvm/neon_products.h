// SPDX-License-Identifier: Apache-2.0
// Products of Neon that both of Arm's architectures have, by the names that LLVM gives them in
// each.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace tenon::compiler {

/// Products of as many numbers with half the bits: smull, or vmull.
llvm::Value* longProducts(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* a,
                          llvm::Value* b);

/// True for what longProducts makes.
bool isLongProduct(const llvm::User* user);

/// True where, too, high halves are factors only of high halves: smull2.
bool takesHighHalves(const llvm::User* user);

/// `sum` and the pairs of `numbers` beside each other: sadalp, or vpadal.
llvm::Value* withPairsOf(llvm::IRBuilderBase& builder, llvm::Value* sum, llvm::Value* numbers);

/// Copies to all lanes of `type` of two or four numbers at `address`, as a structure: ld2r, ld4r.
llvm::Value* loadedCopies(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* address,
                          unsigned count);

} // namespace tenon::compiler
