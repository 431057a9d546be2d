// SPDX-License-Identifier: Apache-2.0
// ByteDot: what a target has for sums of products of bytes.
#pragma once

namespace tenon::compiler {

/// How sums of products of bytes are computed on vectors of 4, 8 and 16 lanes.
enum class ByteDot
{
    Scalar,          ///< four widened products, one after the other
    MultiplyAdd,     ///< of uint8 and int8, pairs of 16-bit products added: pmaddwd
    SignedAdd,       ///< of int8, magnitudes times numbers with both signs, pairs added: pmaddubsw
    Fused,           ///< of uint8 and int8, one instruction: AVX512-VNNI or AVX-VNNI
    NeonMultiplyAdd, ///< of int8, 16-bit products whose pairs are added to the sum: sadalp
    NeonSigned,      ///< of int8, one instruction: sdot
    NeonMatrix,      ///< the same, and products of 2 x 8 with 8 x 2 bytes: smmla
};

constexpr bool isNeon(ByteDot dot)
{
    return dot == ByteDot::NeonMultiplyAdd || dot == ByteDot::NeonSigned ||
           dot == ByteDot::NeonMatrix;
}

} // namespace tenon::compiler
