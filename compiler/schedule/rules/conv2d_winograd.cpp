// SPDX-License-Identifier: Apache-2.0
// conv2d_winograd: some images, rows of tiles or a part of one at a time, so that their transformed
// data, one block of products and one block of filters stay in the second-level cache; each tile
// position is a product of matrices with its sums in registers. Filters that come as they are are
// transformed in registers for a few tiles at a time.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/rules/winograd_products.h"
#include "compiler/schedule/rules/winograd_site.h"
#include "compiler/schedule/rules/winograd_step.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Loops of the last block: steps of images and tiles, what a thread takes of the filter blocks (""
/// where they are not shared out), filter blocks, tiles; a tile's pixels stay inside.
struct ResultLoops
{
    std::vector<std::string> steps;
    std::string share, filters, tile;
};

ResultLoops tileResult(Schedule& schedule, const std::string& last, const WinogradShape& shape,
                       const WinogradStep& step)
{
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const auto blocks = schedule.split(axes[1].loop, {-1, shape.vectors});
    std::vector<std::string> steps, inner{blocks[0], blocks[1]};
    const auto splitOff = [&](std::string& loop, int64_t size) {
        const auto parts = schedule.split(loop, {-1, size});
        steps.push_back(parts[0]);
        loop = parts[1];
    };
    std::string images = axes[0].loop, rows = axes[2].loop, columns = axes[3].loop;
    if (step.images > 1) {
        splitOff(images, step.images);
        inner.push_back(images);
    } else {
        steps.push_back(images);
    }
    splitOff(rows, step.rows * shape.tile[0]);
    if (step.columns < shape.columns) splitOff(columns, step.columns * shape.tile[1]);
    const auto y = schedule.split(rows, {-1, shape.tile[0]});
    const auto x = schedule.split(columns, {-1, shape.tile[1]});
    std::vector<std::string> order = steps;
    order.insert(order.end(), inner.begin(), inner.end());
    for (const std::string& loop : {y[0], x[0], y[1], x[1], axes[4].loop}) order.push_back(loop);
    schedule.reorder(order);
    return {steps, "", blocks[0], x[0]};
}

/// Where all tiles are one step, every thread gets as many blocks of filters and transforms
/// all data for itself: to fetch it from another core's cache takes longer than to compute it again
/// (Sapphire Rapids, two threads, 128 channels at 28 x 28: 0.32 against 0.28 ms).
void shareFilters(Schedule& schedule, ResultLoops& loops, const TargetFacts& facts)
{
    const auto parts = stepPerThread(schedule, loops.filters, facts);
    loops.share = parts[0];
    loops.filters = parts[1];
}

/// Where a block of channels fills half a vector, two columns of rows that are transformed side by
/// side fill it; a tile has six of them.
void unrollColumns(Schedule& schedule, const std::string& rows, int64_t lanes)
{
    const std::vector<std::string> own = innerLoops(schedule, rows, 6);
    const auto parts = schedule.split(schedule.fuse({own[4], own[5]}), {-1, lanes});
    schedule.vectorize(parts[1]);
    schedule.unroll(parts[0]);
    return schedule.unroll(own[3]);
}

/// Blocks of channels that fill half a vector, and tiles in pairs that lie in one row. Where rows
/// are transformed, too, their columns fill it (see unrollColumns; ResNet-8 on a Cortex-A72: 1 %).
bool arePaired(const Schedule& schedule, const std::vector<std::string>& own,
               const WinogradShape& shape, int64_t whole)
{
    const bool isAcross = schedule.extentOf(own[1]) == 1;
    return isAcross && 2 * schedule.extentOf(own[5]) == whole && shape.phases == 1 &&
           shape.columns % 2 == 0 && schedule.extentOf(own[4]) % 2 == 0;
}

/// Two neighbours fill the vector; their rows lie column by column for it.
void transformPairs(Schedule& schedule, const WinogradBlocks& blocks,
                    const std::vector<std::string>& own)
{
    const auto tiles = schedule.split(own[4], {-1, 2});
    schedule.reorder({own[0], own[3], tiles[0], own[1], own[2], tiles[1], own[5]});
    schedule.computeAt(blocks.dataRows, tiles[0]);
    const std::string rows = outputOf(schedule, blocks.dataRows);
    schedule.setScope(rows, tir::Scope::Local);
    schedule.permuteDims(rows, {0, 1, 3, 4, 2, 5});
    const std::vector<std::string> ofRows = innerLoops(schedule, blocks.dataRows, 6);
    schedule.reorder({ofRows[3], ofRows[4], ofRows[2], ofRows[5]});
    for (const size_t loop : {3, 4, 2}) schedule.unroll(ofRows[loop]);
    schedule.vectorize(ofRows[5]);
    schedule.vectorize(schedule.fuse({tiles[1], own[5]}));
    schedule.unroll(own[1]);
    return schedule.unroll(own[2]);
}

/// The transform of the data, under `loop` or, where that is "", before everything else.
void scheduleData(Schedule& schedule, const WinogradBlocks& blocks, const WinogradShape& shape,
                  const std::string& loop, const TargetFacts& facts)
{
    if (!loop.empty()) schedule.computeAt(blocks.dataTiles, loop);
    // n, a, b, ic_outer, tile, ic_inner: a tile of one vector of channels at a time.
    const std::vector<std::string> own = innerLoops(schedule, blocks.dataTiles, 6);
    const int64_t lanes = schedule.extentOf(own[5]);
    const int64_t whole = facts.lanes(static_cast<int>(shape.dataBytes));
    if (arePaired(schedule, own, shape, whole)) {
        transformPairs(schedule, blocks, own);
        if (!blocks.pad.empty()) schedulePad(schedule, blocks.pad, own[3], facts);
        if (loop.empty()) parallelise(schedule, {own[0], own[3]}, facts);
        return;
    }
    // All phases of an image come from the same rows and columns, which are padded once.
    std::string channels = own[3];
    if (shape.phases > 1) {
        const auto parts = schedule.split(own[3], {shape.phases, -1});
        channels = parts[1];
        schedule.reorder({own[0], channels, parts[0], own[4], own[1], own[2], own[5]});
    } else {
        schedule.reorder({own[0], channels, own[4], own[1], own[2], own[5]});
    }
    schedule.computeAt(blocks.dataRows, own[4]);
    schedule.setScope(outputOf(schedule, blocks.dataRows), tir::Scope::Local);
    if (2 * lanes == whole &&
        schedule.extentOf(innerLoops(schedule, blocks.dataRows, 2)[0]) % 2 == 0)
        unrollColumns(schedule, blocks.dataRows, whole);
    else
        unrollTile(schedule, blocks.dataRows, 3, lanes);
    unrollTile(schedule, blocks.dataTiles, 3, lanes);
    if (!blocks.pad.empty()) schedulePad(schedule, blocks.pad, channels, facts);
    if (loop.empty()) parallelise(schedule, {own[0], channels}, facts);
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
    const WinogradStep step = computesFilters ? WinogradStep{1, shape.rows, shape.columns}
                                              : chooseWinogradStep(shape, facts);
    const std::vector<std::string> after = blocksAfter(schedule, blocks.last);
    auto loops = tileResult(schedule, blocks.last, shape, step);
    const bool isShared = computesFilters || isWhole(shape, step);
    if (!computesFilters) spreadPoints(schedule, blocks.dataTiles, shape, step);
    if (isShared) shareFilters(schedule, loops, facts);
    for (const std::string& block : {blocks.resultTiles, blocks.resultRows}) {
        schedule.computeAt(block, loops.tile);
        schedule.setScope(outputOf(schedule, block), tir::Scope::Local);
        unrollTile(schedule, block, 3, shape.lanes);
    }
    unrollTile(schedule, blocks.last, 3, shape.lanes);
    const auto products = computesFilters ? scheduleComputedFilters : scheduleProducts;
    products(schedule, blocks, shape, step.isByPoint ? loops.steps.back() : loops.filters, facts);
    streamWeights(schedule, shape.filters, facts);
    streamResult(schedule, blocks.last, facts);

    scheduleData(schedule, blocks, shape, isShared ? loops.share : loops.steps.back(), facts);
    for (const std::string& block : after) scheduleElementwise(schedule, block, facts);
    std::vector<std::string> outer = loops.steps;
    if (isShared) outer.push_back(loops.share.empty() ? loops.filters : loops.share);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
