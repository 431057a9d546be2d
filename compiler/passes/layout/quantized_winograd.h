// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution of int8, and the filters of the latter.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "core/tensor/tensor.h"

namespace tenon::compiler {

using namespace core;

/// The cheapest tile of a convolution in integers; none: sums of products of bytes are as cheap, or
/// there are no transforms for it.
WinogradTile integerTile(const ConvolutionSize& size, const TargetFacts& facts);
/// Cycles by that tile.
double integerCycles(const ConvolutionSize& size, const TargetFacts& facts);
/// Cycles by that tile, of those by sums of products of bytes.
double shareByWinograd(const ConvolutionSize& size, const TargetFacts& facts);
/// Cycles by sums of products of bytes.
double directIntegerCycles(const ConvolutionSize& size, const TargetFacts& facts);
inline bool isCheaperByWinograd(const ConvolutionSize& size, const TargetFacts& facts)
{
    return shareByWinograd(size, facts) < 1;
}

/// A tile of a convolution of such strides.
struct IntegerTile
{
    WinogradTile tile;
    std::array<int64_t, 2> stride{1, 1};
};

/// Whether it is exact for filters [O, C, KH, KW] of int8 and any data of int8.
bool isExactByWinograd(const Tensor& weight, const IntegerTile& tile);

/// int8 [O, C, KH, KW] -> int16 [O/k, p, q, s * s * C/b, b, k]:
/// qnn.contrib_conv2d_winograd_NCHWc's filters.
Tensor winogradWeightOfBytes(const Tensor& weight, const IntegerTile& tile, int64_t inBlock,
                             int64_t kernelBlock);

} // namespace tenon::compiler
