// SPDX-License-Identifier: Apache-2.0
// conv2d_strassen: runs of pairs of positions, so that the sums of their data, one block of
// products and one block of weights stay in the second-level cache; each of the seven products has
// its sums in registers.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/flat_image.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/rules/winograd_products.h"
#include "compiler/schedule/rules/winograd_site.h"
#include "compiler/schedule/rules/winograd_step.h"
#include "compiler/schedule/tree.h"

namespace tenon::compiler {
namespace {

WinogradBlocks halvedBlocksOf(const Schedule& schedule)
{
    WinogradBlocks blocks{.products = anchorOf(schedule)};
    // What was fused in front of the sums is inlined into them.
    blocks.dataTiles = producerOf(schedule, blocks.products);
    blocks.resultTiles = readerOf(schedule, blocks.products);
    return blocks;
}

WinogradShape halvedShapeOf(const Schedule& schedule, const WinogradBlocks& blocks)
{
    const std::vector<AxisView> axes = axesOf(schedule, blocks.products);
    const tir::Buffer weights = inputsOf(schedule, blocks.products).back();
    return {.tile = {1, 1},
            .images = 1,
            .rows = 1,
            .columns = axes[4].extent,
            .points = axes[1].extent,
            .lanes = axes[5].extent,
            .outBlocks = axes[3].extent,
            .vectors = weights->shape[5]->integer / axes[5].extent,
            .inChannels = axes[6].extent * axes[7].extent,
            .groups = 1,
            .inLanes = axes[7].extent,
            .unrollsRows = false,
            .skipsColumns = false,
            .mayGoByPoint = true,
            .areHalves = true,
            .filters = weights};
}

/// Loops of the last block: over images and runs of positions, what a thread takes of the blocks of
/// weights ("" where they are not shared out), these blocks, and pairs of positions.
struct HalvedLoops
{
    std::string images, run, share, blocks, pair;
};

HalvedLoops tileHalves(Schedule& schedule, const std::string& last, const WinogradShape& shape,
                       int64_t run)
{
    const std::vector<AxisView> axes = axesOf(schedule, last); // n, oc, position, lane
    const auto channels = schedule.split(axes[1].loop, {2, -1});
    const auto blocks = schedule.split(channels[1], {-1, shape.vectors});
    const auto halves = schedule.split(axes[2].loop, {2, shape.columns});
    const auto runs = schedule.split(halves[1], {-1, run});
    schedule.reorder({axes[0].loop, runs[0], blocks[0], blocks[1], runs[1], channels[0], halves[0],
                      axes[3].loop});
    return {axes[0].loop, runs[0], "", blocks[0], runs[1]};
}

/// The sums of the data of one run.
void scheduleSums(Schedule& schedule, const std::string& dataTiles, const std::string& loop,
                  int64_t lanes, const TargetFacts& facts)
{
    if (!loop.empty()) schedule.computeAt(dataTiles, loop);
    const std::vector<std::string> own = innerLoops(schedule, dataTiles, 6);
    schedule.reorder({own[0], own[3], own[4], own[1], own[2], own[5]});
    unrollTile(schedule, dataTiles, 3, lanes);
    if (loop.empty()) parallelise(schedule, {own[0], own[3]}, facts);
}

} // namespace

void scheduleConv2dStrassen(Schedule& schedule, const TargetFacts& facts)
{
    WinogradBlocks blocks = halvedBlocksOf(schedule);
    for (const std::string& block : {blocks.dataTiles, blocks.resultTiles})
        if (block.empty() || axesOf(schedule, block).size() != 6)
            return schedule.fail(
                badSchedule("conv2d_strassen", "of products without sums around them"));
    inlineElementwise(schedule, {blocks.dataTiles, blocks.products, blocks.resultTiles});
    blocks.last = readerOf(schedule, blocks.resultTiles);
    if (blocks.last.empty() || axesOf(schedule, blocks.last).size() != 5 ||
        !canFlatten(schedule, blocks.last, 5))
        return scheduleEach(schedule, facts);
    flattenImage(schedule, blocks.last);

    const WinogradShape shape = halvedShapeOf(schedule, blocks);
    const WinogradStep step = chooseWinogradStep(shape, facts);
    const std::vector<std::string> after = blocksAfter(schedule, blocks.last);
    HalvedLoops loops = tileHalves(schedule, blocks.last, shape, step.columns);
    const bool isShared = isWhole(shape, step);
    spreadPoints(schedule, blocks.dataTiles, shape, step);
    if (isShared) {
        const auto parts = stepPerThread(schedule, loops.blocks, facts);
        loops.share = parts[0];
        loops.blocks = parts[1];
    }
    schedule.computeAt(blocks.resultTiles, loops.pair);
    schedule.setScope(outputOf(schedule, blocks.resultTiles), tir::Scope::Local);
    unrollTile(schedule, blocks.resultTiles, 3, shape.lanes);
    unrollTile(schedule, blocks.last, 3, shape.lanes);
    scheduleProducts(schedule, blocks, shape, step.isByPoint ? loops.run : loops.blocks, facts);
    streamWeights(schedule, shape.filters, facts);
    streamResult(schedule, blocks.last, facts);
    scheduleSums(schedule, blocks.dataTiles, isShared ? loops.share : loops.run, shape.inLanes,
                 facts);
    for (const std::string& block : after) scheduleElementwise(schedule, block, facts);
    std::vector<std::string> outer{loops.images, loops.run};
    if (isShared) outer.push_back(loops.share.empty() ? loops.blocks : loops.share);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
