// SPDX-License-Identifier: Apache-2.0
// What the code of a kernel may rely on.
#pragma once

#include "compiler/codegen/llvm/byte_dot.h"

#include <climits>
#include <cstdint>
#include <string>

namespace tenon::compiler {

/// Bounds of one emission; everything the IR does not say.
struct EmitOptions
{
    std::string symbol;         ///< name of the kernel function
    std::string sourceName;     ///< file name the line table refers to (the printed TIR)
    int vectorBytes = 16;       ///< widest vector the target likes; wider ones must stay legal
    int64_t stackBytes = 16384; ///< larger Allocates go to TVMBackendAllocWorkspace
    bool isElf = true;
    ByteDot byteDot = ByteDot::Scalar;
    bool multipliesTiles = false; ///< Intel AMX multiplies tiles of bytes, on Linux
    bool hasReciprocal = false;   ///< the target has estimates of reciprocals of vectors of 16
    bool hasNarrowLanes = false;  ///< AArch64 multiplies into wider lanes, narrows and saturates
    /// RISC-V makes the nearest integer of a number, and minima and maxima, by one instruction
    /// each.
    bool convertsToNearest = false;
    int packedLanes = 0;        ///< x86 packs bytes of four such vectors with saturation
    bool permutesBytes = false; ///< AVX-512 VBMI brings bytes of a vector into any order
    /// SSSE3 and AArch64's NEON bring the bytes of a vector of 16 into any order.
    bool shufflesBytes = false;
    bool masksLanes = false; ///< AVX-512 moves some lanes of a vector and leaves the others
    /// Fewest lanes of floats of which one instruction is the maximum that keeps NaN.
    int nanMaximumLanes = INT_MAX;
    bool dividesByLanes = false; ///< vectors have no division, but multiply and add at once
    /// The target cannot convert such numbers: they are bits in memory and binary32, rounded after
    /// each operation, in registers.
    bool lacksFloat16 = false, lacksBfloat16 = false;
};

} // namespace tenon::compiler
