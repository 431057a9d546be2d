// SPDX-License-Identifier: Apache-2.0
// Instructions of either form on cores that multiply 16-bit numbers by lanes, and what they read.
#include "compiler/passes/layout/quantized_winograd.h"

#include "compiler/ops/winograd.h"
#include "core/target/byte_products.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tenon::compiler {
namespace {

constexpr int64_t kTile = 4, kSide = 6;
constexpr double kLanes = 4;
constexpr double kInstructionsPerCycle = 1.5;
/// Per product of bytes: three instructions for sixteen, and loads.
constexpr double kPerProduct = 0.23;
/// Per vector of 16-bit products, with loads.
constexpr double kPerVectorOfProducts = 1.15;
/// Per tile and vector of channels: the transforms of data and of results.
constexpr double kPerDataTile = 330, kPerResultTile = 230;

double cycles(double instructions, double filterBytes, const TargetFacts& facts)
{
    return instructions / kInstructionsPerCycle + filterBytes / facts.coldBytesPerCycle();
}

/// The points of one filter.
std::array<int64_t, kSide * kSide> pointsOf(const int8_t* filter)
{
    std::array<std::array<int64_t, 3>, kSide> rows{};
    for (size_t a = 0; a < rows.size(); ++a)
        for (size_t x = 0; x < 3; ++x)
            rows[a][x] = winogradIntegerFilter(static_cast<int64_t>(a),
                                               {filter[x], filter[3 + x], filter[6 + x]});
    std::array<int64_t, kSide * kSide> points{};
    for (size_t a = 0; a < rows.size(); ++a)
        for (size_t b = 0; b < rows.size(); ++b)
            points[a * rows.size() + b] = winogradIntegerFilter(static_cast<int64_t>(b), rows[a]);
    return points;
}

} // namespace

double shareByWinograd(const ConvolutionSize& size, const TargetFacts& facts)
{
    constexpr std::array<int64_t, 2> kSquare{3, 3};
    const bool isPossible = facts.hasLaneOperand && !hasByteDots(facts) && size.groups == 1 &&
                            size.kernel == kSquare && size.phases() == 1 &&
                            size.inChannels % 4 == 0;
    if (!isPossible) return 1;
    const auto in = static_cast<double>(size.inChannels);
    const auto out = static_cast<double>(size.outChannels);
    const auto images = static_cast<double>(size.batch);
    const double tiles = images * static_cast<double>((size.rows + kTile - 1) / kTile *
                                                      ((size.columns + kTile - 1) / kTile));
    const double pixels = images * static_cast<double>(size.rows * size.columns);
    const double points = kSide * kSide;
    const double byPoints = tiles * (points * in * out / kLanes * kPerVectorOfProducts +
                                     (in * kPerDataTile + out * kPerResultTile) / kLanes);
    return std::min(1.0, cycles(byPoints, 2 * points * in * out, facts) /
                             cycles(9 * pixels * in * out * kPerProduct, 9 * in * out, facts));
}

bool isExactByWinograd(const Tensor& weight)
{
    const auto w = weight.as<int8_t>();
    const auto filters = static_cast<size_t>(weight.shape()[0]);
    const size_t each = filters == 0 ? 0 : w.size() / filters;
    for (size_t o = 0; o < filters; ++o) {
        int64_t sum = 0;
        for (size_t i = 0; i < each; ++i) sum += std::abs(int64_t{w[o * each + i]});
        if (128 * sum >= kWinogradIntegerLimit) return false;
    }
    return true;
}

Tensor winogradWeightOfBytes(const Tensor& weight, int64_t inBlock, int64_t kernelBlock)
{
    const auto w = weight.as<int8_t>();
    const int64_t filters = weight.shape()[0], channels = weight.shape()[1];
    std::vector<int16_t> out(static_cast<size_t>(filters * channels * kSide * kSide));
    const int64_t blocks = channels / inBlock;
    for (int64_t o = 0; o < filters; ++o)
        for (int64_t i = 0; i < channels; ++i) {
            const auto points = pointsOf(&w[static_cast<size_t>((o * channels + i) * 9)]);
            for (int64_t at = 0; at < kSide * kSide; ++at) {
                const int64_t block = (o / kernelBlock * kSide * kSide + at) * blocks + i / inBlock;
                const int64_t index =
                    (block * inBlock + i % inBlock) * kernelBlock + o % kernelBlock;
                out[static_cast<size_t>(index)] =
                    static_cast<int16_t>(points[static_cast<size_t>(at)]);
            }
        }
    return Tensor::of(kInt16, {filters / kernelBlock, kSide, kSide, blocks, inBlock, kernelBlock},
                      out);
}

} // namespace tenon::compiler
