// SPDX-License-Identifier: Apache-2.0
// Rewrites what a machine has no instructions for into plain arithmetic, where LLVM would call a
// function of the C library instead.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tenon::compiler {

/// Rounding (ARMv7, x86-64 before SSE4.1), fused multiply-add, and on 32-bit machines division of
/// and conversion from and to 64-bit integers. Rounding and conversions give the same results.
void expandMissing(llvm::Module& module, const llvm::TargetMachine& machine);

} // namespace tenon::compiler
