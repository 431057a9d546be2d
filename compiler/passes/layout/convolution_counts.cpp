// SPDX-License-Identifier: Apache-2.0
// Counted with QEMU at 1 to 64 channels, 1 x 1 to 7 x 7 taps and 14 x 14 to 56 x 56 pixels, and
// fitted: most are within 10 % of what was counted, windows of 7 x 7 by points of floats within 17.
#include "compiler/passes/layout/convolution_counts.h"

#include "core/target/byte_products.h"

namespace tenon::compiler {
namespace {

/// Cortex-A72: a product takes any lane of its other factor.
constexpr ConvolutionCounts kOfLanes{.product = 1.44,
                                     .result = 11,
                                     .pointProduct = 1.28,
                                     .movedVector = 0.68,
                                     .byteProduct = 1.12,
                                     .byteResult = 9,
                                     .rowProduct = 1.12,
                                     .packedWord = 5.7,
                                     .halfProduct = 1.24,
                                     .halfStep = 0.85,
                                     .halfResult = 12.6};
/// Cortex-A7, NEON of ARMv7: lanes are operands of products of 16 bits alone, and of 16 registers
/// transforms and points at strides store some in between.
constexpr ConvolutionCounts kOfHalfLanes{.product = 2.5,
                                         .result = 5,
                                         .pointProduct = 2.64,
                                         .movedVector = 1.65,
                                         .byteProduct = 1.3,
                                         .byteResult = 17,
                                         .rowProduct = 1.3,
                                         .packedWord = 12,
                                         .halfProduct = 1.8,
                                         .halfStep = 1.7,
                                         .halfResult = 46};
/// Haswell: instructions of three operands.
constexpr ConvolutionCounts kOfThreeOperands{.product = 2.4,
                                             .result = 15,
                                             .pointProduct = 2.44,
                                             .movedVector = 1,
                                             .byteProduct = 1.4,
                                             .byteResult = 16,
                                             .rowProduct = 1.6,
                                             .packedWord = 22,
                                             .halfProduct = 1.68,
                                             .halfStep = 1.25,
                                             .halfResult = 4};
/// SSE2 and, with fewer instructions for bytes, Nehalem: factors are copied first.
constexpr ConvolutionCounts kOfTwoOperands{.product = 3.7,
                                           .result = 31,
                                           .pointProduct = 3.6,
                                           .movedVector = 1,
                                           .byteProduct = 2.4,
                                           .byteResult = 17,
                                           .rowProduct = 2.75,
                                           .packedWord = 23,
                                           .halfProduct = 2.1,
                                           .halfStep = 1.2,
                                           .halfResult = 20};
/// AVX-512, which takes a factor from memory for all lanes.
constexpr ConvolutionCounts kOfBroadcasts{.product = 1.3,
                                          .result = 15,
                                          .pointProduct = 1.4,
                                          .movedVector = 1,
                                          .byteProduct = 1.4,
                                          .byteResult = 16,
                                          .rowProduct = 1.4,
                                          .packedWord = 22,
                                          .halfProduct = 1.68,
                                          .halfStep = 1.25,
                                          .halfResult = 4};

/// Products of four bytes by one instruction, and as many loads.
constexpr double kByteProductOfDots = 0.4;
/// By tiles, with the copies of their words, counted in such instructions' time: a third of it (1 x
/// 1 of 1,024 to 256 channels at 14 x 14 410 products a cycle, 3 x 3 of 256 360, of 64 at 56 x 56
/// 230; vectors 120).
constexpr double kByteProductOfTiles = 0.15;

} // namespace

ConvolutionCounts convolutionCounts(const core::TargetFacts& facts)
{
    ConvolutionCounts counts = facts.hasLaneOperand         ? kOfLanes
                               : facts.hasHalfLanes         ? kOfHalfLanes
                               : facts.hasEmbeddedBroadcast ? kOfBroadcasts
                               : facts.vectorBytes > 16     ? kOfThreeOperands
                                                            : kOfTwoOperands;
    if (hasByteDots(facts)) counts.byteProduct = counts.rowProduct = kByteProductOfDots;
    return counts;
}

double byteProductOf(const ConvolutionSize& size, const core::TargetFacts& facts)
{
    // About as the rule of tiles asks: few results do not pay for the copies of their words.
    constexpr int64_t kFewestTaps = 64, kFewestColumns = 7, kFewestFilters = 64;
    const ConvolutionCounts counts = convolutionCounts(facts);
    const double taps = size.elements() * static_cast<double>(size.inChannels);
    const bool isByTiles = facts.byteTileMacs > 0 && size.groups == 1 && taps >= kFewestTaps &&
                           size.columns >= kFewestColumns && size.inChannels > 1 &&
                           size.outChannels >= kFewestFilters;
    if (isByTiles) return kByteProductOfTiles;
    return size.inChannels == 1 ? counts.rowProduct : counts.byteProduct;
}

double issuedCycles(double perVector, const core::TargetFacts& facts)
{
    return perVector / facts.lanes(4) / (facts.issueWidth / 2);
}

CountedForm countedFloats(const ConvolutionSize& size, const WinogradTile& tile,
                          const core::TargetFacts& facts)
{
    const ConvolutionCounts counts = convolutionCounts(facts);
    if (!tile.isDirect()) {
        const WinogradWork work = winogradWork(size, tile);
        const double perVector =
            work.products * counts.pointProduct + work.moved * counts.movedVector;
        return {issuedCycles(perVector, facts), 4 * work.filters};
    }
    const auto taps = size.elements() * static_cast<double>(size.inChannels);
    const auto filters = static_cast<double>(size.outChannels);
    const double results = static_cast<double>(size.batch * size.rows * size.columns) * filters;
    return {issuedCycles(results * (taps * counts.product + counts.result), facts),
            4 * taps * filters};
}

} // namespace tenon::compiler
