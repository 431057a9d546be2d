// SPDX-License-Identifier: Apache-2.0
// Instructions of either form on cores that multiply 16-bit numbers by lanes, and what they read.
#include "compiler/passes/layout/quantized_winograd.h"

#include "compiler/ops/winograd_integers.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "core/target/byte_products.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace tenon::compiler {
namespace {

/// Products of bytes come in words: of channels, or of columns where there is one channel.
double bytesOfResult(const ConvolutionSize& size)
{
    if (size.inChannels == 1) return static_cast<double>(size.kernel[0] * inWords(size.kernel[1]));
    return size.elements() * static_cast<double>(inWords(size.inChannels));
}

/// Words that the columns of the only channel are packed into first.
double packedWords(const ConvolutionSize& size)
{
    if (size.inChannels != 1) return 0;
    const int64_t height = (size.rows - 1) * size.stride[0] + size.kernel[0];
    return static_cast<double>(size.batch * size.groups * height * size.columns *
                               inWords(size.kernel[1]) / kWordBytes);
}

using Axes = std::array<WinogradAxis, 2>;

/// Per point and vector of channels: moving it, and what either axis adds, by its points (330 and
/// 230 of a tile of F(4 x 4, 3 x 3)).
double dataSteps(const Axes& axes)
{
    const auto each = [](const WinogradAxis& a) {
        return a.points() == 1 ? 0 : a.points() < 6 ? 1.2 : a.points() == 6 ? 3 : 4.5;
    };
    return 3.2 + each(axes[0]) + each(axes[1]);
}
double resultSteps(const Axes& axes)
{
    const auto each = [](const WinogradAxis& a) {
        return a.points() == 1 ? 0 : a.points() < 6 ? 1.5 : a.points() == 6 ? 2 : 3;
    };
    return 2.4 + each(axes[0]) + each(axes[1]);
}

double pointsOf(const Axes& axes)
{
    return static_cast<double>(axes[0].points() * axes[1].points());
}

IntegerForm formOfPoints(const ConvolutionSize& size, const Axes& axes, const TargetFacts& facts)
{
    const auto in = static_cast<double>(size.inChannels);
    const auto out = static_cast<double>(size.outChannels);
    const double points = pointsOf(axes);
    const int64_t along = (size.rows + axes[0].tile - 1) / axes[0].tile;
    const int64_t across = (size.columns + axes[1].tile - 1) / axes[1].tile;
    double products = 1; // of a pair of channels and a tile, with those of all phases
    for (size_t i = 0; i < 2; ++i)
        products *= static_cast<double>(
            axes[i].isDirect() ? axes[i].taps
                               : winogradProducts(size.kernel[i], size.stride[i], axes[i].tile));
    const auto phases = static_cast<double>(size.phases());
    const ConvolutionCounts counts = convolutionCounts(facts);
    const double steps = points * (phases * in * dataSteps(axes) + out * resultSteps(axes));
    const auto results = static_cast<double>(axes[0].tile * axes[1].tile) * out;
    const double each = in * out * products * counts.halfProduct + steps * counts.halfStep +
                        results * counts.halfResult;
    const auto tiles = static_cast<double>(size.batch * along * across);
    return {{axes[0].tile, axes[1].tile},
            {issuedCycles(tiles * each, facts), 2 * products * in * out}};
}

/// The tiles along an axis, with none among them.
std::vector<WinogradAxis> axesOf(int64_t kernel, int64_t stride)
{
    std::vector<WinogradAxis> out;
    const int64_t taps = winogradAxis(kernel, stride, 1).taps;
    // Up to three taps along both axes have points, which are fewer.
    if (stride == 1 && (taps == 1 || taps > 3)) out.push_back({1, taps});
    for (const int64_t points : {3, 4, 6, 8})
        if (const WinogradAxis axis{points - taps + 1, taps}; isWinogradIntegerAxis(axis))
            out.push_back(axis);
    return out;
}

Axes axesOf(const std::vector<int64_t>& weight, const IntegerTile& form)
{
    return {winogradAxis(weight[2], form.stride[0], form.tile.rows),
            winogradAxis(weight[3], form.stride[1], form.tile.columns)};
}

/// One filter, height times width.
struct Filter
{
    const int8_t* elements;
    int64_t height, width;

    int64_t at(int64_t y, int64_t x) const
    {
        return y < height && x < width ? elements[y * width + x] : 0;
    }
};

/// Its points at the phase of a stride that begins at (top, left), row by row.
std::vector<int64_t> pointsOf(const Axes& axes, const Filter& filter,
                              const std::array<int64_t, 2>& stride, int64_t top, int64_t left)
{
    const auto& [along, across] = axes;
    std::vector<int64_t> points;
    for (int64_t a = 0; a < along.points(); ++a) {
        std::vector<int64_t> row;
        for (int64_t x = 0; x < across.taps; ++x) {
            std::vector<int64_t> column;
            for (int64_t y = 0; y < along.taps; ++y)
                column.push_back(filter.at(top + y * stride[0], left + x * stride[1]));
            row.push_back(winogradIntegerFilter(along, a, column));
        }
        for (int64_t b = 0; b < across.points(); ++b)
            points.push_back(winogradIntegerFilter(across, b, row));
    }
    return points;
}

} // namespace

double IntegerForm::cycles(const TargetFacts& facts) const
{
    return counted.cycles + counted.filterBytes / facts.coldBytesPerCycle();
}

IntegerForm directIntegers(const ConvolutionSize& size, const TargetFacts& facts)
{
    const ConvolutionCounts counts = convolutionCounts(facts);
    const double taps = size.elements() * static_cast<double>(size.inChannels);
    const auto filters = static_cast<double>(size.outChannels);
    const auto pixels = static_cast<double>(size.batch * size.rows * size.columns);
    const double each = bytesOfResult(size) * byteProductOf(size, facts) + counts.byteResult;
    const double all = pixels * filters * each + packedWords(size) * counts.packedWord;
    return {{}, {issuedCycles(all, facts), taps * filters}};
}

IntegerForm integerForm(const ConvolutionSize& size, const TargetFacts& facts,
                        const std::function<bool(const WinogradTile&)>& isAllowed)
{
    IntegerForm best = directIntegers(size, facts);
    const bool hasHalves = facts.hasHalfLanes ? !hasByteDots(facts) : addsPairsOfHalves(facts);
    const bool isPossible =
        hasHalves && size.groups == 1 && size.elements() > 1 && size.inChannels % 4 == 0;
    if (!isPossible) return best;
    for (const WinogradAxis& along : axesOf(size.kernel[0], size.stride[0]))
        for (const WinogradAxis& across : axesOf(size.kernel[1], size.stride[1])) {
            const bool isPossibleHere = !along.isDirect() || size.phases() == 1;
            if (!isPossibleHere || !areWinogradIntegerAxes(along, across)) continue;
            const IntegerForm form = formOfPoints(size, {along, across}, facts);
            if (form.cycles(facts) < best.cycles(facts) && isAllowed(form.tile)) best = form;
        }
    return best;
}

bool isExactByWinograd(const Tensor& weight, const IntegerTile& tile, int64_t reach)
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
        if (reach * sum >= limit) return false;
    }
    return true;
}

Tensor winogradWeightOfBytes(const Tensor& weight, const IntegerTile& tile, int64_t inBlock,
                             int64_t kernelBlock)
{
    const auto w = weight.as<int8_t>();
    const std::vector<int64_t>& shape = weight.shape();
    const int64_t filters = shape[0], channels = shape[1];
    const Axes axes = axesOf(shape, tile);
    const int64_t count = axes[0].points() * axes[1].points();
    const int64_t rows = axes[0].isDirect() ? axes[0].taps : 1; // as phases below one another
    const int64_t across = tile.stride[1], phases = rows * tile.stride[0] * across;
    const int64_t blocks = phases * channels / inBlock;
    std::vector<int16_t> out(static_cast<size_t>(filters * phases * channels * count));
    for (int64_t o = 0; o < filters; ++o)
        for (int64_t i = 0; i < phases * channels; ++i) {
            const int64_t phase = i / channels, own = o * channels + i % channels;
            const Filter filter{&w[static_cast<size_t>(own * shape[2] * shape[3])], shape[2],
                                shape[3]};
            const auto points =
                pointsOf(axes, filter, tile.stride, phase / tile.stride[1], phase % tile.stride[1]);
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

Tensor inPairs(const Tensor& points)
{
    std::vector<int64_t> shape = points.shape();
    const int64_t filters = shape.back();
    int64_t& channels = shape.at(shape.size() - 2);
    channels /= 2;
    const auto from = points.as<int16_t>();
    std::vector<int32_t> out;
    for (size_t i = 0; i < from.size() / 2; ++i) {
        const size_t side = static_cast<size_t>(filters), at = i / side * 2 * side + i % side;
        const uint32_t high = static_cast<uint16_t>(from[at + side]);
        out.push_back(static_cast<int32_t>(high << 16 | static_cast<uint16_t>(from[at])));
    }
    return Tensor::of(kInt32, std::move(shape), out);
}

} // namespace tenon::compiler
