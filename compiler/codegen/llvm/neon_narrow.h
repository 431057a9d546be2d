// SPDX-License-Identifier: Apache-2.0
// Narrowing on AArch64: 32-bit integers plus a zero point, limited, as bytes.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PassManager.h>

#include <vector>

namespace tenon::compiler {

/// clip(x + zeroPoint, least, most), limits inside those of the 8-bit type.
struct Narrowing
{
    int64_t zeroPoint = 0; ///< of 9 bits and a sign at most
    int64_t least = 0;
    int64_t most = 0;
    bool isSigned = false;

    friend bool operator==(const Narrowing&, const Narrowing&) = default;
};

/// The lanes of all `quads`, vectors of four 32-bit integers, as one vector of bytes: every step
/// narrows by saturating, which is exact because the limits follow.
llvm::Value* narrowQuads(llvm::IRBuilderBase& builder, const std::vector<llvm::Value*>& quads,
                         const Narrowing& narrowing);

/// A register holds sixteen bytes: what narrowQuads made of four neighbouring stores in one block
/// is made at once.
void mergeNarrowStores(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

} // namespace tenon::compiler
