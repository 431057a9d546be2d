// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution of bytes, and the filters of the latter.
#pragma once

#include "compiler/passes/layout/convolution_counts.h"
#include "core/tensor/tensor.h"

#include <functional>

namespace tenon::compiler {

using namespace core;

/// The cheapest form of a convolution in integers.
struct IntegerForm
{
    WinogradTile tile; ///< none: sums of products of bytes are as cheap, or there are no transforms
    CountedForm counted;

    double cycles(const TargetFacts& facts) const; ///< with filters that come from memory
};
/// Among tiles that `isAllowed`, which is asked of those that are better than what was found.
IntegerForm integerForm(
    const ConvolutionSize& size, const TargetFacts& facts,
    const std::function<bool(const WinogradTile&)>& isAllowed = [](const auto&) { return true; });
/// By sums of products of bytes.
IntegerForm directIntegers(const ConvolutionSize& size, const TargetFacts& facts);

/// A tile of a convolution of such strides.
struct IntegerTile
{
    WinogradTile tile;
    std::array<int64_t, 2> stride{1, 1};
};

/// Whether it is exact for filters [O, C, KH, KW] of int8 and data up to `reach` in magnitude.
bool isExactByWinograd(const Tensor& weight, const IntegerTile& tile, int64_t reach = 128);

/// int8 [O, C, KH, KW] -> int16 [O/k, p, q, s * s * C/b, b, k]:
/// qnn.contrib_conv2d_winograd_NCHWc's filters.
Tensor winogradWeightOfBytes(const Tensor& weight, const IntegerTile& tile, int64_t inBlock,
                             int64_t kernelBlock);
/// The same of two channels in one word where pairs of products are added: int32 [.., b/2, k].
Tensor inPairs(const Tensor& points);

} // namespace tenon::compiler
