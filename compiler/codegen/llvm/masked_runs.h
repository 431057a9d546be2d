// SPDX-License-Identifier: Apache-2.0
// Loads and stores of elements that lie side by side, of any number.
#pragma once

#include "compiler/codegen/llvm/emit_options.h"
#include "core/ir/tir/stmt.h"

#include <llvm/IR/IRBuilder.h>

namespace tenon::compiler {

using namespace core;

/// A place in memory and how far it is aligned.
struct RunPlace
{
    llvm::Value* pointer;
    llvm::Align align;
};

llvm::Value* loadRun(llvm::IRBuilderBase& builder, const EmitOptions& options,
                     const tir::BufferNode& buffer, llvm::Type* type, const RunPlace& place);
void storeRun(llvm::IRBuilderBase& builder, const EmitOptions& options,
              const tir::BufferNode& buffer, llvm::Value* stored, const RunPlace& place);

} // namespace tenon::compiler
