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

/// How a convolution's weights are read.
struct WeightReading
{
    RegisterTile tile;
    int64_t passes;    ///< of tiles over the same weights
    int64_t tileBytes; ///< weights of a tile
    int64_t inBlocks;  ///< which parts divide
};

WeightReading readingOf(const Schedule& schedule, const ConvSite& site, Walk walk,
                        const TargetFacts& facts)
{
    const ConvShape& shape = site.shape;
    const RegisterTile tile = tileOfSite(schedule, site, walk, facts);
    const int64_t runs =
        (schedule.extentOf(site.loops.column) + tile.positions - 1) / tile.positions;
    const int64_t passes = runs * (walk == Walk::Image ? 1 : shape.rows);
    return {tile, passes, tile.vectors * shape.weightBytes / shape.outBlocks,
            schedule.extentOf(site.loops.inBlock)};
}

/// Parts of which each has no more weights of a tile than so many bytes, or one block of channels.
int64_t partsWithin(const WeightReading& reading, int64_t bytes)
{
    const int64_t ofBlock = reading.tileBytes / reading.inBlocks;
    return reading.inBlocks / divisorUpTo(reading.inBlocks, bytes / ofBlock);
}

/// Parts for memory to deliver the next while one is in use; 1: none.
int64_t partsFromMemory(const Schedule& schedule, const ConvShape& shape,
                        const WeightReading& reading, const TargetFacts& facts)
{
    if (!readsWeightsOnce(shape, facts) || !canStream(schedule, shape.weights, facts)) return 1;
    // Weights that would leave the cache between two tiles come from behind it for each of them.
    const bool isTooLarge = reading.tileBytes > facts.l2Bytes / 2;
    if (reading.passes == 1 || (reading.passes > kFewPasses && !isTooLarge)) return 1;
    return partsWithin(reading, facts.l2Bytes / kPartsInCache);
}

/// True where a tile's weights come from the second-level cache again and again, at a rate that the
/// loop waits for: a third of the cache's slows it, and a quarter where those weights fill as much
/// of the cache, which the data share.
bool waitsForCache(const WeightReading& reading, const TargetFacts& facts)
{
    constexpr double kOfRate = 0.35, kOfRateInFullCache = 0.25;
    const double rate = static_cast<double>(reading.tile.vectors * facts.vectorBytes) /
                        stepCycles(reading.tile, facts) / facts.l2BytesPerCycle;
    return reading.tileBytes > facts.l1Bytes &&
           rate > (reading.tileBytes > facts.l2Bytes / 4 ? kOfRateInFullCache : kOfRate);
}

/// Parts of which each leaves the weights of a tile in the first-level cache beside the data; 1:
/// none. Of 16 registers (Zen 3, 2,048 to 320 channels at 8 x 8 pixels: 51 against 85 % of the
/// peak, 3 x 3 by twos of 224 to 448 at 7 x 7: 66 against 81, of 288 to 384 at 17 x 17: 87 against
/// 93); tiles of 32 have twice as many products for what they read, and more sums to add up behind.
int64_t partsFromCache(const ConvShape& shape, const WeightReading& reading,
                       const TargetFacts& facts)
{
    constexpr int64_t kFewestPasses = 8; // else the wait for each part is not made up for
    if (hasLargeTiles(facts) || shape.weights->dtype != kFloat32 || shape.groups > 1 ||
        reading.passes < kFewestPasses || !waitsForCache(reading, facts))
        return 1;
    const int64_t parts = partsWithin(reading, facts.l1Bytes * 3 / 8);
    const RegisterTile& tile = reading.tile;
    const int64_t sums = reading.passes * tile.positions * tile.vectors * facts.vectorBytes;
    return parts * sums <= facts.l2Bytes / 2 ? parts : 1;
}

} // namespace

int64_t weightParts(const Schedule& schedule, const ConvSite& site, Walk walk,
                    const TargetFacts& facts)
{
    const ConvShape& shape = site.shape;
    const WeightReading reading = readingOf(schedule, site, walk, facts);
    if (shape.outBlocks % reading.tile.vectors != 0) return 1;
    const int64_t blocks = shape.outBlocks / reading.tile.vectors;
    if (blocks % std::max<int64_t>(1, facts.threads) != 0) return 1; // threads share blocks only
    return std::max(partsFromMemory(schedule, shape, reading, facts),
                    partsFromCache(shape, reading, facts));
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
