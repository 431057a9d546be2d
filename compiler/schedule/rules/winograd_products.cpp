// SPDX-License-Identifier: Apache-2.0
// Each point of a tile is a product of matrices with its sums in registers.
#include "compiler/schedule/rules/winograd_products.h"

#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Splits the loops of the products' copy, images and tiles among them, into those between and
/// those of register tiles; returns the innermost loop between them.
std::string splitProducts(Schedule& schedule, const std::vector<std::string>& out,
                          const TileSpace& space, const TargetFacts& facts)
{
    const int64_t together =
        imagesOfRegisterTile(schedule.extentOf(out[0]), space.positions, space, facts);
    TileSpace own = space;
    own.positions *= together;
    const RegisterTile tile = chooseTile(own, facts);
    const auto vectors = schedule.split(out[3], {-1, tile.vectors});
    const auto tiles = schedule.splitOverlap(out[4], tile.positions / together);
    // Images inside of points, whose filters all of them multiply.
    std::vector<std::string> order{out[1], out[2], vectors[0], out[0], tiles[0]};
    if (together > 1) {
        const auto images = schedule.split(out[0], {-1, together});
        order[3] = images[0];
        order.push_back(images[1]);
    }
    order.insert(order.end(), {tiles[1], vectors[1], out[5]});
    schedule.reorder(order);
    return tiles[0];
}

/// The loop over blocks of channels; where rows of filters are multiplied one by one, over these
/// and the blocks of one of them, so that no step divides to find its data.
std::vector<std::string> splitChannels(Schedule& schedule, const std::string& products,
                                       const std::string& loop, const WinogradShape& shape,
                                       const TargetFacts& facts)
{
    const int64_t blocks = inputsOf(schedule, products).front()->shape[3]->integer;
    if (blocks > 1 && blocks < shape.filters->shape[3]->integer)
        return schedule.split(loop, {-1, blocks});
    // Four steps are short where lanes are operands: half as much loop control.
    const bool areShort =
        facts.hasLaneOperand && shape.inLanes == 4 && schedule.extentOf(loop) % 2 == 0;
    return areShort ? schedule.split(loop, {-1, 2}) : std::vector<std::string>{loop};
}

} // namespace

void scheduleProducts(Schedule& schedule, const WinogradBlocks& blocks, const WinogradShape& shape,
                      const std::string& loop, const TargetFacts& facts)
{
    const auto copy = schedule.cacheWrite(blocks.products, tir::Scope::Register);
    schedule.computeAt(copy, loop);
    const std::vector<std::string> out = innerLoops(schedule, copy, 6);
    const std::string between =
        splitProducts(schedule, out, productSpace(shape, schedule.extentOf(out[4]), facts), facts);
    schedule.computeAt(blocks.products, between);

    const std::vector<std::string> own = innerLoops(schedule, blocks.products, 8);
    constexpr int64_t kFewBlocks = 3;
    const auto channels = splitChannels(schedule, blocks.products, own[6], shape, facts);
    const auto depth = schedule.split(
        own[7], {-1, divisorUpTo(shape.inLanes, stepsOfBlock(shape.inLanes, facts))});
    std::vector<std::string> order{own[0], own[1], own[2]};
    order.insert(order.end(), channels.begin(), channels.end());
    order.insert(order.end(), {depth[0], depth[1], own[4], own[3], own[5]});
    // Images of a register tile are positions of it.
    const bool areTogether = schedule.extentOf(own[0]) > 1;
    if (areTogether) std::rotate(order.begin(), order.begin() + 1, std::prev(order.end(), 3));
    const size_t inTile = areTogether ? 4 : 3;
    schedule.reorder(order);
    initialiseTile(schedule, blocks.products, channels[0], inTile, shape.lanes);
    (void)schedule.tries().skipZeroTerms(blocks.products, 5); // refused without strides
    schedule.unroll(depth[1]);
    // A loop of two or three steps inside of another costs as much as one that divides.
    if (channels.size() > 1 && schedule.extentOf(depth[0]) == 1 &&
        schedule.extentOf(channels[1]) <= kFewBlocks)
        schedule.unroll(channels[1]);
    unrollTile(schedule, blocks.products, inTile, shape.lanes);
    return unrollTile(schedule, copy, inTile, shape.lanes);
}

void spreadPoints(Schedule& schedule, const std::string& dataTiles, const WinogradShape& shape,
                  const WinogradStep& step)
{
    constexpr int64_t kElementsPerLine = 16;
    constexpr int64_t kElementsPerWay = 4096 / 4; // of most processors
    const std::vector<AxisView> axes = axesOf(schedule, dataTiles);
    const int64_t perTile = axes[3].extent * axes[5].extent;
    if (step.rows * step.columns * perTile % (kElementsPerWay / 2) != 0) return;
    // Buffers keep the space between points when they shrink to a step.
    const int64_t apart = shape.rows * shape.columns * perTile + kElementsPerLine;
    return schedule.storageAlign(outputOf(schedule, dataTiles), 2, apart, 0);
}

} // namespace tenon::compiler
