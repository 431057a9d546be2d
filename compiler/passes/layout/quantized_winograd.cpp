// SPDX-License-Identifier: Apache-2.0
// Instructions of either form on cores that multiply 16-bit numbers by lanes, and what they read.
#include "compiler/passes/layout/quantized_winograd.h"

#include "compiler/ops/winograd.h"
#include "core/target/byte_products.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace tenon::compiler {
namespace {

constexpr double kLanes = 4;
constexpr double kInstructionsPerCycle = 1.5;
/// Per product of bytes: three instructions for sixteen, and loads.
constexpr double kPerProduct = 0.23;
/// Per vector of 16-bit products, with loads.
constexpr double kPerVectorOfProducts = 1.15;

using Axes = std::array<WinogradAxis, 2>;

/// Per point and vector of channels: moving it, and what either axis adds, by its points (330 and
/// 230 of a tile of F(4 x 4, 3 x 3)).
double dataSteps(const Axes& axes)
{
    const auto each = [](const WinogradAxis& a) { return a.points() == 6 ? 3.0 : 1.2; };
    return 3.2 + each(axes[0]) + each(axes[1]);
}
double resultSteps(const Axes& axes)
{
    const auto each = [](const WinogradAxis& a) { return a.points() == 6 ? 2.0 : 1.5; };
    return 2.4 + each(axes[0]) + each(axes[1]);
}

double cycles(double instructions, double filterBytes, const TargetFacts& facts)
{
    return instructions / kInstructionsPerCycle + filterBytes / facts.coldBytesPerCycle();
}

double pointsOf(const Axes& axes)
{
    return static_cast<double>(axes[0].points() * axes[1].points());
}

double cyclesByPoints(const ConvolutionSize& size, const Axes& axes, const TargetFacts& facts)
{
    const auto in = static_cast<double>(size.inChannels);
    const auto out = static_cast<double>(size.outChannels);
    const double points = pointsOf(axes);
    const int64_t along = (size.rows + axes[0].tile - 1) / axes[0].tile;
    const int64_t across = (size.columns + axes[1].tile - 1) / axes[1].tile;
    const double vectors =
        in * out * kPerVectorOfProducts + in * dataSteps(axes) + out * resultSteps(axes);
    return cycles(static_cast<double>(size.batch * along * across) * points * vectors / kLanes,
                  2 * points * in * out, facts);
}

double cyclesByProducts(const ConvolutionSize& size, const TargetFacts& facts)
{
    const double filters =
        size.elements() * static_cast<double>(size.inChannels * size.outChannels);
    const auto pixels = static_cast<double>(size.batch * size.rows * size.columns);
    return cycles(filters * pixels * kPerProduct, filters, facts);
}

/// The tiles along an axis of so many taps.
std::vector<WinogradAxis> axesOf(int64_t taps)
{
    if (taps == 3) return {{4, 3}};
    if (taps == 2) return {{2, 2}, {3, 2}};
    return {};
}

struct Form
{
    WinogradTile tile;
    double cycles;
};

/// Points, or products of bytes.
Form cheapestForm(const ConvolutionSize& size, const TargetFacts& facts)
{
    Form best{{}, cyclesByProducts(size, facts)};
    const bool isPossible = facts.hasLaneOperand && !hasByteDots(facts) && size.groups == 1 &&
                            size.phases() == 1 && size.inChannels % 4 == 0;
    if (!isPossible) return best;
    for (const WinogradAxis& along : axesOf(size.kernel[0]))
        for (const WinogradAxis& across : axesOf(size.kernel[1])) {
            const double each = cyclesByPoints(size, {along, across}, facts);
            if (each < best.cycles) best = {{along.tile, across.tile}, each};
        }
    return best;
}

Axes axesOf(const std::vector<int64_t>& weight, const WinogradTile& tile)
{
    return {WinogradAxis{tile.rows, weight[2]}, WinogradAxis{tile.columns, weight[3]}};
}

/// The points of one filter, row by row.
std::vector<int64_t> pointsOf(const Axes& axes, const int8_t* filter)
{
    const auto& [along, across] = axes;
    std::vector<int64_t> points;
    for (int64_t a = 0; a < along.points(); ++a) {
        std::vector<int64_t> row;
        for (int64_t x = 0; x < across.taps; ++x) {
            std::vector<int64_t> column;
            for (int64_t y = 0; y < along.taps; ++y) column.push_back(filter[y * across.taps + x]);
            row.push_back(winogradIntegerFilter(along, a, column));
        }
        for (int64_t b = 0; b < across.points(); ++b)
            points.push_back(winogradIntegerFilter(across, b, row));
    }
    return points;
}

} // namespace

WinogradTile integerTile(const ConvolutionSize& size, const TargetFacts& facts)
{
    return cheapestForm(size, facts).tile;
}

double shareByWinograd(const ConvolutionSize& size, const TargetFacts& facts)
{
    return cheapestForm(size, facts).cycles / cyclesByProducts(size, facts);
}

bool isExactByWinograd(const Tensor& weight, const WinogradTile& tile)
{
    const Axes axes = axesOf(weight.shape(), tile);
    const int64_t limit =
        winogradIntegerLimit(winogradIntegerFactor(axes[0]) * winogradIntegerFactor(axes[1]));
    const auto w = weight.as<int8_t>();
    const auto filters = static_cast<size_t>(weight.shape()[0]);
    const size_t each = filters == 0 ? 0 : w.size() / filters;
    for (size_t o = 0; o < filters; ++o) {
        int64_t sum = 0;
        for (size_t i = 0; i < each; ++i) sum += std::abs(int64_t{w[o * each + i]});
        if (128 * sum >= limit) return false;
    }
    return true;
}

Tensor winogradWeightOfBytes(const Tensor& weight, const WinogradTile& tile, int64_t inBlock,
                             int64_t kernelBlock)
{
    const auto w = weight.as<int8_t>();
    const int64_t filters = weight.shape()[0], channels = weight.shape()[1];
    const Axes axes = axesOf(weight.shape(), tile);
    const int64_t taps = axes[0].taps * axes[1].taps;
    const int64_t count = axes[0].points() * axes[1].points();
    std::vector<int16_t> out(static_cast<size_t>(filters * channels * count));
    const int64_t blocks = channels / inBlock;
    for (int64_t o = 0; o < filters; ++o)
        for (int64_t i = 0; i < channels; ++i) {
            const auto points = pointsOf(axes, &w[static_cast<size_t>((o * channels + i) * taps)]);
            for (int64_t at = 0; at < count; ++at) {
                const int64_t block = (o / kernelBlock * count + at) * blocks + i / inBlock;
                const int64_t index =
                    (block * inBlock + i % inBlock) * kernelBlock + o % kernelBlock;
                out[static_cast<size_t>(index)] =
                    static_cast<int16_t>(points[static_cast<size_t>(at)]);
            }
        }
    return Tensor::of(
        kInt16,
        {filters / kernelBlock, axes[0].points(), axes[1].points(), blocks, inBlock, kernelBlock},
        out);
}

} // namespace tenon::compiler
