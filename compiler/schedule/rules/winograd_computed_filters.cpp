// SPDX-License-Identifier: Apache-2.0
// Products of a Winograd convolution whose filters come as they are: transformed on the way, for a
// few tiles at a time.
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/winograd_site.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Which sums one transform of a filter serves: of `points` in a row, for `tiles`.
struct TransformTile
{
    int64_t points = 1;
    int64_t tiles = 1;
};

/// The tile of fewest steps that fits the registers, beside the points of a filter.
TransformTile chooseTransformTile(const WinogradShape& shape, const TargetFacts& facts)
{
    const int64_t m = shape.tile[0], side = m + 2; // of 3 x 3, in squares
    // Columns are known in each copy of a tile when groups are whole rows of tiles.
    const int64_t together = shape.skipsColumns ? shape.columns : 1;
    const int64_t groups = shape.rows * shape.columns / together;
    const double rowSteps = m == 2 ? 3 : 5;   // for the three elements of a row, on average
    const double pointSteps = m == 2 ? 4 : 7; // for a whole row of points
    TransformTile best;
    double bestCost = 1e300;
    for (const int64_t points : {side, side / 2}) {
        const int64_t most = std::max<int64_t>(1, (facts.vectorRegisters - 8) / points);
        const int64_t count = divisorUpTo(groups, std::max<int64_t>(1, most / together)) * together;
        const double transform =
            rowSteps + pointSteps * static_cast<double>(points) / static_cast<double>(side);
        const double cost = static_cast<double>(side / points * (groups * together / count)) *
                            (transform + static_cast<double>(points * count));
        if (cost >= bestCost) continue;
        best = {points, count};
        bestCost = cost;
    }
    return best;
}

/// Loops under which filters are transformed: along one axis, then along the other.
struct TransformLoops
{
    std::string rows, points;
};

void transformFiltersAt(Schedule& schedule, const WinogradBlocks& blocks,
                        const TransformLoops& loops, int64_t lanes)
{
    const auto place = [&](const std::string& block, const std::string& loop) {
        schedule.computeAt(block, loop);
        schedule.setScope(outputOf(schedule, block), tir::Scope::Local);
        unrollTile(schedule, block, 2, lanes);
    };
    place(blocks.filterPoints, loops.points);
    place(blocks.filterRows, loops.rows);
}

/// Splits the sum over all channels: sums over some, whose filters stay in the first-level cache
/// while all points pass, are a block of their own; returns it.
std::string sumChannelsInSteps(Schedule& schedule, const WinogradBlocks& blocks,
                               const WinogradShape& shape, const TargetFacts& facts)
{
    const std::string outer = axesOf(schedule, blocks.products)[6].loop;
    const int64_t filterBytes = 9 * 4 * shape.lanes * shape.inLanes;
    // Of few tiles, whose points all pass at once, half as many leave more room for the data
    // (Sapphire Rapids, 512 channels at 7 x 7: 1 to 3 %).
    const int64_t fifths = shape.unrollsRows ? 1 : 2;
    const int64_t most = std::max<int64_t>(1, facts.l1Bytes * fifths / 5 / filterBytes);
    const auto steps = schedule.split(outer, {-1, divisorUpTo(schedule.extentOf(outer), most)});
    return schedule.rfactor(steps[0], 6);
}

} // namespace

void scheduleComputedFilters(Schedule& schedule, const WinogradBlocks& blocks,
                             const WinogradShape& shape, const std::string& loop,
                             const TargetFacts& facts)
{
    const std::string& products = blocks.products;
    // Points of a tile side by side: 36 lines that are apart by a power of two would share a set of
    // the first-level cache.
    for (const std::string& block : {blocks.dataTiles, products})
        schedule.permuteDims(outputOf(schedule, block), {0, 3, 4, 1, 2, 5});
    const auto partial = sumChannelsInSteps(schedule, blocks, shape, facts);
    if (schedule.hasFailed()) return; // there are no steps
    schedule.computeAt(products, loop);
    // n, a, b, oc_outer, tile, oc_inner, step
    const std::vector<std::string> out = innerLoops(schedule, products, 7);
    const TransformTile tile = chooseTransformTile(shape, facts);
    const auto points = schedule.split(out[2], {-1, tile.points});
    const auto tiles = schedule.split(out[4], {-1, tile.tiles});
    schedule.reorder(
        {out[0], out[3], out[6], out[1], points[0], tiles[0], points[1], tiles[1], out[5]});
    initialiseTile(schedule, products, out[6], 2, shape.lanes);
    // Which sums of a filter's rows the points need is known in each copy of this loop.
    schedule.unroll(points[0]);
    if (shape.unrollsRows) schedule.unroll(out[1]);
    unrollTile(schedule, products, 3, shape.lanes);

    schedule.computeAt(partial, tiles[0]);
    schedule.setScope(outputOf(schedule, partial), tir::Scope::Register);
    // n, a, b, oc_outer, tile, oc_inner, step, ic_outer, ic_inner
    const std::vector<std::string> own = innerLoops(schedule, partial, 9);
    // Addresses that grow by 16 bytes become one register each; by 4 they would take a second one
    // for the index, and with it processors split a product from its load (Sapphire Rapids, 14 x
    // 14: 6 %). Few tiles have six copies of this loop already, which wait for memory.
    const int64_t depth = shape.unrollsRows ? 1 : divisorUpTo(schedule.extentOf(own[8]), 4);
    const auto channels = schedule.split(own[8], {-1, depth});
    const std::string& channel = channels[1];
    schedule.reorder(
        {own[0], own[1], own[3], own[6], own[7], channels[0], channel, own[2], own[4], own[5]});
    initialiseTile(schedule, partial, own[7], 3, shape.lanes);
    schedule.unroll(channel);
    // Rows that several groups of points and tiles read are kept in the first-level cache.
    const bool keepsRows = schedule.extentOf(points[0]) * schedule.extentOf(tiles[0]) > 1;
    const TransformLoops transforms{keepsRows ? out[1] : channel, channel};
    transformFiltersAt(schedule, blocks, transforms, shape.lanes);
    return unrollTile(schedule, partial, 3, shape.lanes);
}

} // namespace tenon::compiler
