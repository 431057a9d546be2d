// SPDX-License-Identifier: Apache-2.0
// Rewrites what a machine has no instructions for into plain arithmetic, where LLVM would call a
// function of the C library instead.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tenon::compiler {

struct LlvmTraits;

/// What a processor has no instructions for.
struct Lacks
{
    bool rounding = false;
    bool fma = false;
    bool wideFma = false;          ///< of 64-bit floats
    bool conversion = false;       ///< between floats and 64-bit integers
    bool narrowConversion = false; ///< of vectors of 64-bit integers to binary32, in one rounding
    bool wideDivision = false;     ///< of 64-bit integers
    bool division = false;         ///< of integers of any width

    friend bool operator==(const Lacks&, const Lacks&) = default;
};

/// Rounding (ARMv7, x86-64 before SSE4.1), fused multiply-add, and on 32-bit machines division of
/// and conversion from and to 64-bit integers. Rounding and conversions give the same results.
void expandMissing(llvm::Module& module, const llvm::TargetMachine& machine,
                   const LlvmTraits& traits);

} // namespace tenon::compiler
