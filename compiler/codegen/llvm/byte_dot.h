// SPDX-License-Identifier: Apache-2.0
// ByteDot: what a target has for sums of products of bytes.
#pragma once

namespace tenon::compiler {

/// How sums of products of bytes are computed on vectors of 4, 8 and 16 lanes.
enum class ByteDot
{
    Scalar,          ///< four widened products, one after the other
    MultiplyAdd,     ///< of uint8 and int8, pairs of 16-bit products added: pmaddwd
    Fused,           ///< of uint8 and int8, one instruction: AVX512-VNNI or AVX-VNNI
    NeonMultiplyAdd, ///< of int8, 16-bit products whose pairs are added to the sum: sadalp
    NeonSigned,      ///< of int8, one instruction: sdot
};

} // namespace tenon::compiler
