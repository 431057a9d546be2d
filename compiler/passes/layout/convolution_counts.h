// SPDX-License-Identifier: Apache-2.0
// Instructions of a convolution in floats and in bytes, by the forms that its loops take.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"

namespace tenon::compiler {

/// Of loops over whole vectors of 32-bit lanes, loads and loop control among them, as counted on
/// emulated processors; each figure is for as many elements as such a vector has lanes.
struct ConvolutionCounts
{
    double product, result;           ///< of floats, window by window
    double pointProduct, movedVector; ///< the same by points: products, and WinogradWork::moved
    double byteProduct, byteResult;   ///< of bytes, window by window, with rounding
    double rowProduct, packedWord;    ///< of bytes of one channel: products, and packing columns
    double halfProduct, halfStep, halfResult; ///< the same by points of 16 bits
};

ConvolutionCounts convolutionCounts(const core::TargetFacts& facts);
/// Of a convolution of bytes of so many taps, window by window: ConvolutionCounts::byteProduct, or
/// less where processors multiply tiles.
double byteProductOf(const ConvolutionSize& size, const core::TargetFacts& facts);

/// Cycles of so many instructions for each vector: of such loops cores begin about a half of what
/// they could.
double issuedCycles(double perVector, const core::TargetFacts& facts);

/// Cycles of what is issued, and the bytes of filters that are read for it.
struct CountedForm
{
    double cycles = 0;
    double filterBytes = 0;
};
CountedForm countedFloats(const ConvolutionSize& size, const WinogradTile& tile,
                          const core::TargetFacts& facts);

} // namespace tenon::compiler
