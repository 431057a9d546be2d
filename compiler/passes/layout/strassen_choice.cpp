// SPDX-License-Identifier: Apache-2.0
// Cycles of the products, of the sums before and behind them, and of weights that are 7/4 as large.
#include "compiler/passes/layout/strassen_choice.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/strassen.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/rewrite.h"
#include "compiler/schedule/rules/winograd_step.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Vectors that are loaded, stored or added for a pair of positions: 4, 7 and 5 of the data; of the
/// result 7 stored, 7 loaded, 8 added and 4 stored.
constexpr double kDataVectors = 16, kResultVectors = 26;
/// Of these, what is loaded and stored beside the products, by way of the second-level cache.
constexpr double kMovedData = 11, kMovedResults = 18;
/// Of that cache's rate, what such loops get (Zen 3: 4,608 to 128 channels of 200 positions
/// took 1.4 of the time of the whole product, 128 to 512 at 28 x 28 1.07, 512 to 512 at 14 x 14
/// 0.95).
constexpr double kReachedOfL2 = 0.75;
/// Positions whose products take as long as a tile's weights, which the first-level cache does not
/// hold and fewer positions do not wait for (Zen 3: 1,024 to 1,024 channels at 7 x 7 took 1.22 of
/// the time of the whole, 1,024 to 256 at 14 x 14 0.92; Zen 4: 2,048 to 512 at 7 x 7 1.02).
constexpr double kBeyondCache = 4;
constexpr int64_t kLeastVectors = 2; ///< of weights in a tile
/// Of an image; halves of fewer fill no register tile, and axes of one are no loops to schedule.
constexpr int64_t kLeastPositions = 16;

struct Product
{
    int64_t depth, outputs, positions;
    bool isHalf = false; ///< one of the seven
};

/// Tiles are chosen by instructions where lanes are operands, of which a core begins more in a
/// cycle than products: these take longer, then.
double cyclesOf(const Product& p, int64_t width, const LayoutMachine& machine)
{
    TileSpace space{.vectors = std::max<int64_t>(1, width / machine.lanes),
                    .positions = p.positions};
    if (p.isHalf) space.vectorBytes = bytesOfVector(p.depth, machine.facts.vectorBytes);
    const double steps = static_cast<double>(p.depth) * static_cast<double>(p.outputs / width);
    const int64_t tile = chooseTile(space, machine.facts).positions;
    const int64_t computed = (p.positions + tile - 1) / tile * tile;
    const double products = steps * static_cast<double>(space.vectors * computed) /
                            machine.facts.vectorMacs(machine.lanes);
    return std::max(steps * stepCyclesOfAll(space, machine.facts), products);
}

Product halfOfAll(const ConvolutionSize& size)
{
    return {size.inChannels / 2, size.outChannels / 2, halfOf(size.rows * size.columns), true};
}

/// Results in a block of the weights, so many times those of a vector that register tiles take
/// least.
int64_t halvedWeightBlock(const Product& half, int64_t block, const LayoutMachine& machine)
{
    constexpr int64_t kMost = 4;
    int64_t best = block;
    for (int64_t times = 2; times <= kMost; ++times)
        if (half.outputs % (times * block) == 0 &&
            cyclesOf(half, times * block, machine) <= cyclesOf(half, best, machine))
            best = times * block;
    return best;
}

/// Cycles of the sums before and behind the products, of an image: of instructions, or of what
/// they move. Where lanes are operands, forms are compared by instructions alone.
double cyclesOfSums(const Product& half, const LayoutMachine& machine)
{
    const auto cycles = [&](double data, double results, double perCycle) {
        const double vectors =
            data * static_cast<double>(half.depth) + results * static_cast<double>(half.outputs);
        return static_cast<double>(half.positions) * vectors / (machine.lanes * perCycle);
    };
    const double adding =
        cycles(kDataVectors, kResultVectors, machine.facts.vectorMacs(machine.lanes));
    if (machine.facts.hasLaneOperand) return adding;
    const double rate = kReachedOfL2 * machine.facts.l2BytesPerCycle / (4.0 * machine.lanes);
    return std::max(adding, cycles(kMovedData, kMovedResults, rate));
}

} // namespace

std::optional<ConvolutionSize> halvedSize(const Module& module, const NodeRecord& node)
{
    const auto size = convolutionSize(module, node);
    const std::array<int64_t, 2> ones{1, 1};
    if (!size || size->kernel != ones || size->stride != ones || size->groups != 1 ||
        !constantOf(module, node.operands[1]))
        return std::nullopt;
    const auto in = constantShape(module.type(node.operands[0]).shape);
    const bool isWhole = in && (*in)[2] == size->rows && (*in)[3] == size->columns &&
                         constantShape(node.types[0].shape);
    return isWhole ? size : std::nullopt;
}

bool fitsHalves(const ConvolutionSize& size, const ChannelBlocks& blocks)
{
    return blocks.in > 1 && size.inChannels % (2 * blocks.in) == 0 &&
           size.outChannels % (2 * blocks.out) == 0;
}

double strassenError(const ConvolutionSize& size)
{
    constexpr double kOfHalves = 2; // see strassen.cpp
    return kOfHalves * 1.6e-8 * std::sqrt(static_cast<double>(size.inChannels));
}

double timeOfHalves(const ConvolutionSize& size, const LayoutMachine& machine)
{
    const int64_t block = channelBlock(size.outChannels, machine.lanes);
    const int64_t positions = size.rows * size.columns;
    const ChannelBlocks blocks{channelBlock(size.inChannels, machine.lanes), block, block};
    if (block == 0 || !fitsHalves(size, blocks) || positions < kLeastPositions) return 1;
    const Product whole{size.inChannels, size.outChannels, positions};
    const Product half = halfOfAll(size);
    const auto weights = static_cast<double>(4 * whole.depth * whole.outputs);
    const auto images = static_cast<double>(size.batch);
    const double direct = withFilters(
        images * cyclesOf(whole, weightBlock(whole.outputs, block), machine), weights, machine);

    constexpr double kOfWeights = kHalvedProducts / 4.0;
    const bool isBeyond = kLeastVectors * bytesOfVector(half.depth, machine.facts.vectorBytes) >
                          machine.facts.l1Bytes;
    const double waiting = isBeyond ? 1 + kBeyondCache / static_cast<double>(half.positions) : 1.0;
    const double products =
        kHalvedProducts * cyclesOf(half, halvedWeightBlock(half, block, machine), machine);
    const double halves = withFilters(images * (products * waiting + cyclesOfSums(half, machine)),
                                      kOfWeights * weights, machine);
    return halves / direct;
}

std::string halvedKernelLayout(const ConvolutionSize& size, const ChannelBlocks& blocks,
                               const LayoutMachine& machine)
{
    const int64_t out = halvedWeightBlock(halfOfAll(size), blocks.out, machine);
    return "OHWI" + std::to_string(blocks.in) + "i" + std::to_string(out) + "o";
}

} // namespace tenon::compiler
