// SPDX-License-Identifier: Apache-2.0
// conv2d_winograd: whole rows of tiles at a time, so that their transformed data, one block of
// products and one block of filters stay in the second-level cache; each tile position is a product
// of matrices with its sums in registers. Filters that come as they are are transformed in
// registers for a few tiles at a time.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/rules/winograd_site.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Bytes that come from beyond the second-level cache when a step takes `rows` rows of tiles.
double outerTraffic(const WinogradShape& shape, int64_t rows, const TargetFacts& facts)
{
    const auto steps = static_cast<double>(shape.rows / rows);
    const auto cache = static_cast<double>(facts.l2Bytes) * 0.75;
    const auto filters =
        static_cast<double>(4 * shape.points * shape.inChannels * shape.outBlocks * shape.lanes);
    const auto held = static_cast<double>(4 * shape.points * rows * shape.columns *
                                          (shape.inChannels + shape.vectors * shape.lanes));
    const double spilled = held > cache ? 2 * held * steps : 0;
    return spilled + (filters + held > cache ? filters * steps : filters);
}

/// Rows of tiles per step: the fewest that cause the least traffic, and few enough that every
/// thread has a step unless blocks of channels can be shared out instead.
int64_t rowsPerStep(const WinogradShape& shape, const TargetFacts& facts)
{
    const int64_t threads = facts.threads;
    const bool sharesFilters = shape.outBlocks / shape.vectors % threads == 0;
    int64_t best = 1;
    for (int64_t rows = 2; rows <= shape.rows; ++rows) {
        if (shape.rows % rows != 0 || (!sharesFilters && shape.rows / rows < threads)) continue;
        if (sharesFilters && rows < shape.rows && shape.rows / rows < threads) continue;
        if (outerTraffic(shape, rows, facts) < outerTraffic(shape, best, facts)) best = rows;
    }
    return best;
}

/// Loops of the last block: rows of tiles, what a thread takes of the filter blocks ("" where they
/// are not shared out), filter blocks, tiles; a tile's pixels stay inside.
struct ResultLoops
{
    std::string n, step, share, filters, tile;
};

ResultLoops tileResult(Schedule& schedule, const std::string& last, const WinogradShape& shape,
                       int64_t rows)
{
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const auto blocks = schedule.split(axes[1].loop, {-1, shape.vectors});
    const auto y = schedule.split(axes[2].loop, {-1, rows, shape.tile});
    const auto x = schedule.split(axes[3].loop, {-1, shape.tile});
    schedule.reorder(
        {axes[0].loop, y[0], blocks[0], blocks[1], y[1], x[0], y[2], x[1], axes[4].loop});
    return ResultLoops{axes[0].loop, y[0], "", blocks[0], x[0]};
}

/// Products of one filter block under `loop`: per tile position, register tiles of tiles x vectors.
void scheduleProducts(Schedule& schedule, const WinogradBlocks& blocks, const WinogradShape& shape,
                      const std::string& loop, const TargetFacts& facts)
{
    const auto copy = schedule.cacheWrite(blocks.products, tir::Scope::Register);
    schedule.computeAt(copy, loop);
    const std::vector<std::string> out = innerLoops(schedule, copy, 6);
    const RegisterTile tile = chooseTile({shape.vectors, schedule.extentOf(out[4])}, facts);
    const auto vectors = schedule.split(out[3], {-1, tile.vectors});
    const auto tiles = schedule.splitOverlap(out[4], tile.positions);
    schedule.reorder({out[0], out[1], out[2], vectors[0], tiles[0], tiles[1], vectors[1], out[5]});
    schedule.computeAt(blocks.products, tiles[0]);

    const std::vector<std::string> own = innerLoops(schedule, blocks.products, 8);
    const auto depth = schedule.split(own[7], {-1, divisorUpTo(shape.inLanes, 4)});
    schedule.reorder({own[0], own[1], own[2], own[6], depth[0], depth[1], own[4], own[3], own[5]});
    initialiseTile(schedule, blocks.products, own[6], 3, shape.lanes);
    schedule.unroll(depth[1]);
    unrollTile(schedule, blocks.products, 3, shape.lanes);
    return unrollTile(schedule, copy, 3, shape.lanes);
}

/// A tile writes a vector to each point. Where points are apart by a power of two, these would
/// share a set or two of the first-level cache; another line between them spreads them.
void spreadPoints(Schedule& schedule, const std::string& dataTiles)
{
    constexpr int64_t kElementsPerLine = 16;
    constexpr int64_t kElementsPerWay = 4096 / 4; // of most processors
    const std::vector<AxisView> axes = axesOf(schedule, dataTiles);
    const int64_t apart = axes[3].extent * axes[4].extent * axes[5].extent;
    if (apart % (kElementsPerWay / 2) != 0) return;
    return schedule.storageAlign(outputOf(schedule, dataTiles), 2, kElementsPerWay / 2,
                                 kElementsPerLine);
}

/// Where all rows of tiles are one step, every thread gets as many blocks of filters and transforms
/// all data for itself: to fetch it from another core's cache takes longer than to compute it again
/// (Sapphire Rapids, two threads, 128 channels at 28 x 28: 0.32 against 0.28 ms).
void shareFilters(Schedule& schedule, const WinogradBlocks& blocks, ResultLoops& loops,
                  const TargetFacts& facts)
{
    if (schedule.extentOf(loops.step) > 1) return;
    if (blocks.filterPoints.empty()) spreadPoints(schedule, blocks.dataTiles);
    const auto parts = stepPerThread(schedule, loops.filters, facts);
    loops.share = parts[0];
    loops.filters = parts[1];
}

/// The transform of the data, under `loop` or, where that is "", before everything else.
void scheduleData(Schedule& schedule, const WinogradBlocks& blocks, const std::string& loop,
                  const TargetFacts& facts)
{
    if (!loop.empty()) schedule.computeAt(blocks.dataTiles, loop);
    // n, a, b, ic_outer, tile, ic_inner: a tile of one vector of channels at a time.
    const std::vector<std::string> own = innerLoops(schedule, blocks.dataTiles, 6);
    const int64_t lanes = schedule.extentOf(own[5]);
    schedule.reorder({own[0], own[3], own[4], own[1], own[2], own[5]});
    schedule.computeAt(blocks.dataRows, own[4]);
    schedule.setScope(outputOf(schedule, blocks.dataRows), tir::Scope::Local);
    for (const std::string& block : {blocks.dataRows, blocks.dataTiles})
        unrollTile(schedule, block, 3, lanes);
    if (!blocks.pad.empty()) schedulePad(schedule, blocks.pad, own[3], facts);
    if (loop.empty()) parallelise(schedule, {own[0], own[3]}, facts);
}

} // namespace

void scheduleConv2dWinograd(Schedule& schedule, const TargetFacts& facts)
{
    WinogradBlocks blocks = blocksOf(schedule);
    for (const std::string& block :
         {blocks.dataTiles, blocks.dataRows, blocks.resultRows, blocks.resultTiles})
        if (block.empty() || axesOf(schedule, block).size() < 6)
            return schedule.fail(
                badSchedule("conv2d_winograd", "of products without transforms around them"));
    inlineElementwise(schedule, {blocks.pad, blocks.dataRows, blocks.dataTiles, blocks.products,
                                 blocks.resultRows, blocks.resultTiles, blocks.filterRows,
                                 blocks.filterPoints});
    blocks.last = readerOf(schedule, blocks.resultTiles);
    if (blocks.last.empty() || axesOf(schedule, blocks.last).size() != 5)
        return scheduleEach(schedule, facts);

    const WinogradShape shape = shapeOf(schedule, blocks);
    const bool computesFilters = !blocks.filterPoints.empty();
    const int64_t rows = computesFilters ? shape.rows : rowsPerStep(shape, facts);
    const std::vector<std::string> after = blocksAfter(schedule, blocks.last);
    auto loops = tileResult(schedule, blocks.last, shape, rows);
    shareFilters(schedule, blocks, loops, facts);
    for (const std::string& block : {blocks.resultTiles, blocks.resultRows}) {
        schedule.computeAt(block, loops.tile);
        schedule.setScope(outputOf(schedule, block), tir::Scope::Local);
        unrollTile(schedule, block, 3, shape.lanes);
    }
    unrollTile(schedule, blocks.last, 3, shape.lanes);
    const auto products = computesFilters ? scheduleComputedFilters : scheduleProducts;
    products(schedule, blocks, shape, loops.filters, facts);
    streamWeights(schedule, shape.filters, facts);

    const bool hasSteps = rows < shape.rows;
    const std::string& around = hasSteps ? loops.step : loops.share;
    scheduleData(schedule, blocks, around, facts);
    for (const std::string& block : after) scheduleElementwise(schedule, block, facts);
    std::vector<std::string> outer{loops.n, loops.step};
    if (!hasSteps) outer.push_back(loops.share.empty() ? loops.filters : loops.share);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
