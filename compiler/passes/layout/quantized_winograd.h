// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution of int8, and the filters of the latter.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "core/tensor/tensor.h"

namespace tenon::compiler {

using namespace core;

/// Cycles of a convolution by F(4 x 4, 3 x 3) in integers, of those by sums of products of bytes; 1
/// where these are as cheap, or it is no such convolution.
double shareByWinograd(const ConvolutionSize& size, const TargetFacts& facts);
inline bool isCheaperByWinograd(const ConvolutionSize& size, const TargetFacts& facts)
{
    return shareByWinograd(size, facts) < 1;
}

/// Whether it is exact for filters [O, C, 3, 3] of int8 and any data of int8.
bool isExactByWinograd(const Tensor& weight);

/// int8 [O, C, 3, 3] -> int16 [O/k, 6, 6, C/b, b, k]: qnn.contrib_conv2d_winograd_NCHWc's filters.
Tensor winogradWeightOfBytes(const Tensor& weight, int64_t inBlock, int64_t kernelBlock);

} // namespace tenon::compiler
