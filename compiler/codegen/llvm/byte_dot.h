// SPDX-License-Identifier: Apache-2.0
// ByteDot: what a target has for sums of products of bytes.
#pragma once

namespace tenon::compiler {

/// How dot_u8i8 is computed on vectors of 4, 8 and 16 lanes.
enum class ByteDot
{
    Scalar,          ///< four widened products, one after the other
    MultiplyAdd,     ///< pairs of 16-bit products added: pmaddwd
    Fused,           ///< one instruction: AVX512-VNNI or AVX-VNNI
    NeonMultiplyAdd, ///< 16-bit products whose pairs are added to the sum: sadalp
    NeonSigned,      ///< sdot, of bytes that are both signed
    NeonMixed,       ///< usdot, one instruction: I8MM
};

} // namespace tenon::compiler
