// SPDX-License-Identifier: Apache-2.0
// Weights of bytes in the orders in which kernels read them: four in one int32, or byte by byte.
#pragma once

#include "core/tensor/tensor.h"

namespace tenon::compiler {

using namespace core;

/// Filters whose runs lie behind one another, as many as have a sum in registers.
inline constexpr int64_t kRunFilters = 4;

/// int8 [O, C, KH, KW] -> int32 [O/k, C/b, KH, KW, k, b/4].
Tensor runsOfWeight(const Tensor& weight, int64_t inBlock);
/// int8 [O, C, KH, KW] -> int8 [O/k, C, KH, KW, 1, k].
Tensor weightByFilter(const Tensor& weight);
/// int8 [O, I, KH, KW] -> int32 [O/k, C/b, KH, KW, b/4, k]; channels from I to `channels` are zero.
Tensor packedConvWeight(const Tensor& weight, int64_t channels, int64_t inBlock,
                        int64_t kernelBlock);
/// int8 [O, C, KH, KW] -> int32 [O/k, C/b, KH, 1, ceil(KW * b / 4), k]: words of the KW * b bytes
/// of a row, at least 4; the last word is of the last 4, less what the word before has.
Tensor joinedConvWeight(const Tensor& weight, int64_t inBlock, int64_t kernelBlock);
/// int8 [C, 1, KH, KW] -> int32 [C/b, (KH + 3) / 4, KW, b].
Tensor packedDepthwiseWeight(const Tensor& weight, int64_t block);
/// int8 [C, 1, KH, KW] -> int8 [C/b, KH, KW, b].
Tensor blockedDepthwiseWeight(const Tensor& weight, int64_t block);
/// int8 [N, K] -> int32 [N/b, (K + 3) / 4, b]; zeros behind the end of a row.
Tensor packedDenseWeight(const Tensor& weight, int64_t block);
/// -zeroPoint times the sum of all weights of each output channel, as int32 of `shape`.
Tensor zeroPointShare(const Tensor& weight, int64_t zeroPoint, std::vector<int64_t> shape);

} // namespace tenon::compiler
