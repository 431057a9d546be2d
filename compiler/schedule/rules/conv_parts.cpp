// SPDX-License-Identifier: Apache-2.0
// Sums by parts: one part of the weights stays in the second-level cache for all rows while memory
// delivers the next; the parts' sums are added up behind. Whole blocks would begin with a block's
// wait for memory and leave it idle later (Sapphire Rapids, 512 channels at 7 x 7: 81 against 94 %
// of the peak).
#include "compiler/schedule/rules/conv_parts.h"

#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Passes over the weights above which the wait for the first block no longer counts.
constexpr int64_t kFewPasses = 16;
/// Share of the second-level cache for one part; the next one, the data and the sums lie beside.
constexpr int64_t kPartsInCache = 12;

RegisterTile tileOfSite(const Schedule& schedule, const ConvSite& site, Walk walk,
                        const TargetFacts& facts)
{
    return convTile(site.shape, schedule.extentOf(site.loops.column), walk, facts);
}

/// The loops of the block that adds the parts up, by meaning.
struct SumLoops
{
    std::string n, outBlock, row, column, lane, part; ///< no row where the image is one axis
};

SumLoops sumLoopsOf(const Schedule& schedule, const std::string& conv, Walk walk)
{
    std::vector<std::string> l = ownLoopsOf(schedule, conv);
    if (walk == Walk::Image) l.insert(l.begin() + 2, "");
    return {l[0], l[1], l[2], l[3], l[4], l[5]};
}

ConvLoops partLoopsOf(const Schedule& schedule, const std::string& sums, Walk walk)
{
    std::vector<std::string> l = ownLoopsOf(schedule, sums);
    if (walk == Walk::Image) l.insert(l.begin() + 2, "");
    return {l[0], l[1], l[2], l[3], l[4], l[6], l[7], l[8], l[9], l[5]};
}

/// Tiles for the block that adds the parts up and for what follows it.
std::vector<std::string> tileSums(Schedule& schedule, const std::string& conv,
                                  const SumLoops& loops, const std::string& vectors,
                                  int64_t positions)
{
    const int64_t lanes = schedule.extentOf(loops.lane);
    const auto columns = schedule.splitOverlap(loops.column, positions);
    std::vector<std::string> order{loops.row,  columns[0], loops.part,
                                   columns[1], vectors,    loops.lane};
    std::erase(order, "");
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, conv, columns[0], lanes);
    initialiseTile(schedule, conv, loops.part, 3, lanes);
    unrollTile(schedule, conv, 3, lanes);
    return left;
}

} // namespace

int64_t weightParts(const Schedule& schedule, const ConvSite& site, Walk walk,
                    const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    if (!readsWeightsOnce(shape, facts) || !canStream(schedule, shape.weights, facts)) return 1;
    const RegisterTile tile = tileOfSite(schedule, site, walk, facts);
    const int64_t columns = schedule.extentOf(loops.column);
    const int64_t runs = (columns + tile.positions - 1) / tile.positions;
    const int64_t blocks = shape.outBlocks / tile.vectors;
    const int64_t passes = runs * (walk == Walk::Image ? 1 : shape.rows);
    // Weights that would leave the cache between two tiles come from behind it for each of them.
    const bool isTooLarge = tile.vectors * shape.weightBytes / shape.outBlocks > facts.l2Bytes / 2;
    if (shape.outBlocks % tile.vectors != 0) return 1;
    if (passes == 1 || (passes > kFewPasses && !isTooLarge)) return 1;
    if (blocks % std::max<int64_t>(1, facts.threads) != 0) return 1; // threads share blocks only
    const int64_t inBlocks = schedule.extentOf(loops.inBlock);
    const int64_t bytes = shape.weightBytes / (blocks * inBlocks);
    return inBlocks / divisorUpTo(inBlocks, facts.l2Bytes / kPartsInCache / bytes);
}

void scheduleByParts(Schedule& schedule, const std::string& conv, const ConvSite& site, Walk walk,
                     const TargetFacts& facts)
{
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    const int64_t parts = weightParts(schedule, site, walk, facts);
    const RegisterTile tile = tileOfSite(schedule, site, walk, facts);
    const auto split = schedule.split(site.loops.inBlock, {parts, -1});
    const auto sums = schedule.rfactor(split[0], 0);
    const auto copy = schedule.cacheWrite(sums, tir::Scope::Register);
    if (schedule.hasFailed()) return; // there are no parts

    const SumLoops loops = sumLoopsOf(schedule, conv, walk);
    const auto blocks = schedule.split(loops.outBlock, {-1, tile.vectors});
    for (const std::string& block : {copy, sums}) schedule.computeAt(block, blocks[0]);
    const ConvSite part{site.shape, partLoopsOf(schedule, sums, walk)};
    const auto nest = tileConvolution(schedule, sums, part, walk, facts);
    if (nest.left.empty() || nest.left.front() != conv)
        return schedule.fail(
            badSchedule("conv2d_nchwc", "the sums of " + conv + " do not wait for all parts"));

    const auto left = tileSums(schedule, conv, loops, blocks[1], tile.positions);
    streamWeights(schedule, site.shape.weights, facts);
    for (const std::string& block : left) scheduleElementwise(schedule, block, facts);
    std::string share, shared = blocks[0];
    if (pads.size() == 1) {
        const auto steps = stepPerThread(schedule, shared, facts);
        share = steps[0];
        if (!share.empty()) shared = share;
    }
    for (const std::string& pad : pads) schedulePad(schedule, pad, share, facts);
    return parallelise(schedule, {loops.n, shared}, facts);
}

} // namespace tenon::compiler
