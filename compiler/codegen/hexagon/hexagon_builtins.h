// SPDX-License-Identifier: Apache-2.0
// What LLVM's code for Hexagon calls beside memcpy and memset: arithmetic of 64-bit floats, square
// roots.
#pragma once

#include <llvm/IR/Module.h>

namespace tenon::compiler {

/// Adds the functions, hidden, to a module that defines memcpy or is linked to one; each result is
/// the one IEEE 754 asks for.
void addHexagonBuiltins(llvm::Module& module);

} // namespace tenon::compiler
