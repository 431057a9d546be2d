// SPDX-License-Identifier: Apache-2.0
// Tiles of convolutions: as the joined image, a few rows at a time, or all rows there are.
#include "compiler/schedule/rules/conv_tiles.h"

#include "compiler/schedule/row_strips.h"
#include "compiler/schedule/rules/conv_reduction.h"
#include "compiler/schedule/rules/conv_steps.h"
#include "compiler/schedule/rules/conv_sums.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/target/byte_products.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// So many positions, or fewer, find weights that were read for the ones before them in a cache.
constexpr int64_t kFewPositions = 32;

/// The loops that tiling made, by meaning; "" where there is none.
struct ConvTiles
{
    std::string share;         ///< what one thread takes of the steps, if all weights pass over it
    std::string step;          ///< rows or runs of positions that one thread takes
    std::string row;           ///< rows inside a step
    std::string tiles;         ///< register tiles inside a row or step
    std::string positions;     ///< inside a register tile
    bool stepsOverlap = false; ///< each would pad all there is
};

/// What a tile walks, and in which order.
struct TileWalk
{
    Walk walk;
    RegisterTile tile;
    bool passesByStep = false; ///< all weights pass over one step before the next begins
};

/// Runs of register tiles along the joined image: several per step, the same number for each. Tiles
/// that overlap have steps where one thread takes them all.
ConvTiles tilePositions(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                        const TileWalk& walk, const TargetFacts& facts)
{
    const std::string& loop = loops.column;
    const int64_t extent = schedule.extentOf(loop), positions = walk.tile.positions;
    if (extent % positions != 0) {
        const int64_t count = (extent + positions - 1) / positions;
        const bool hasSteps =
            walk.passesByStep || (facts.threads < 2 && !readsWeightsOnce(shape, facts));
        const int64_t wanted = hasSteps ? tilesPerStep(shape, walk.tile, count, facts) : 0;
        const bool isOneStep = wanted == 0 || wanted >= count;
        // The tiles of all steps, so that the last step computes little again: 361 positions are 7
        // steps of 4 tiles of 13, where tiles of 14 would be 26 of 28.
        const int64_t all = isOneStep ? count : (count + wanted - 1) / wanted * wanted;
        const auto parts = schedule.splitOverlap(loop, (extent + all - 1) / all);
        ConvTiles tiles{.tiles = parts[0], .positions = parts[1]};
        if (isOneStep) return tiles;
        const auto steps = schedule.splitOverlap(parts[0], wanted);
        tiles.step = steps[0];
        tiles.tiles = steps[1];
        tiles.stepsOverlap = true;
        return tiles;
    }
    const int64_t count = extent / positions;
    const int64_t wanted = std::clamp<int64_t>(count / (2 * int64_t{facts.threads}), 1, 8);
    const auto parts = schedule.split(loop, {-1, evenDivisorUpTo(count, wanted, facts), positions});
    return ConvTiles{.share = "", .step = parts[0], .tiles = parts[1], .positions = parts[2]};
}

/// Runs of columns for threads to share: as many as divide the row and leave each some tiles.
int64_t runsOfRow(const ConvShape& shape, int64_t positions, const TargetFacts& facts)
{
    constexpr int64_t kFewestTiles = 2;
    int64_t runs = int64_t{facts.threads};
    while (runs > 1 &&
           (shape.columns % runs != 0 || shape.columns / runs < kFewestTiles * positions))
        --runs;
    return runs;
}

/// The one row of a sequence: a run of columns for each thread, and in it steps whose data stay in
/// the second-level cache while the weights pass over them.
ConvTiles tileRow(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                  const TileWalk& walk, const TargetFacts& facts)
{
    ConvTiles tiles{.row = loops.row};
    std::string columns = loops.column;
    if (const int64_t runs = runsOfRow(shape, walk.tile.positions, facts); runs > 1) {
        const auto shares = schedule.split(columns, {runs, -1});
        tiles.share = shares[0];
        columns = shares[1];
    }
    const auto parts = schedule.splitOverlap(columns, walk.tile.positions);
    tiles.tiles = parts[0];
    tiles.positions = parts[1];
    const int64_t count = schedule.extentOf(parts[0]);
    const int64_t wanted = walk.passesByStep ? tilesPerStep(shape, walk.tile, count, facts) : 0;
    if (wanted > 0 && wanted < count) {
        const auto steps = schedule.splitOverlap(parts[0], wanted);
        tiles.step = steps[0];
        tiles.tiles = steps[1];
        tiles.stepsOverlap = true;
    } else if (tiles.share.empty()) {
        const auto rows = schedule.split(loops.row, {-1, 1}); // where the row may be padded
        tiles.step = rows[0];
        tiles.row = rows[1];
    }
    return tiles;
}

ConvTiles tileRows(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                   const TileWalk& walk, const TargetFacts& facts)
{
    if (shape.rows == 1) return tileRow(schedule, loops, shape, walk, facts);
    const auto rows = schedule.split(loops.row, {-1, rowsPerStep(shape, facts)});
    const auto columns = schedule.splitOverlap(loops.column, walk.tile.positions);
    return ConvTiles{.step = rows[0], .row = rows[1], .tiles = columns[0], .positions = columns[1]};
}

/// Threads that share rows find the data of theirs in their own cache, where sharing weights makes
/// each read all data, half of it from another core's (Sapphire Rapids, two threads, 128 to 256
/// channels at 14 x 14: 0.43 against 0.36 ms). Each then reads all weights, in half the time that
/// it computes.
void shareRows(Schedule& schedule, const ConvShape& shape, ConvTiles& tiles,
               const TargetFacts& facts)
{
    const int64_t threads = facts.threads;
    const int64_t elements = shape.weightBytes / shape.weights->dtype.bytes();
    const double computing = static_cast<double>(elements * shape.rows * shape.columns) /
                             (facts.vectorMacs(static_cast<int>(shape.lanes)) *
                              static_cast<double>(shape.lanes * threads));
    const double reading = static_cast<double>(shape.weightBytes) / facts.coldBytesPerCycle();
    if (threads < 2 || schedule.extentOf(tiles.step) % threads != 0 || 2 * reading > computing)
        return;
    const auto shares = schedule.split(tiles.step, {threads, -1});
    tiles.share = shares[0];
    tiles.step = shares[1];
}

/// Loops around the rows of one step, from outside to inside.
std::vector<std::string> loopsAround(const ConvLoops& loops, const ConvTiles& tiles,
                                     const std::string& blocks, bool weightsFirst)
{
    std::vector<std::string> around{loops.n, tiles.share};
    if (!weightsFirst && !tiles.step.empty()) around.push_back(tiles.step);
    around.insert(around.end(), {blocks, loops.part});
    if (weightsFirst) around.push_back(tiles.step);
    std::erase(around, "");
    return around;
}

/// The same where each thread takes a share of the blocks and walks all steps.
std::vector<std::string> loopsAroundSteps(Schedule& schedule, const ConvLoops& loops,
                                          const ConvTiles& tiles, const std::string& blocks,
                                          const TargetFacts& facts)
{
    const auto shares = schedule.split(blocks, {int64_t{facts.threads}, -1});
    std::vector<std::string> around{loops.n, shares[0], tiles.step, shares[1]};
    std::erase(around, "");
    return around;
}

/// Group by group, whose rows may be padded for all of its blocks at once.
std::vector<std::string> loopsAroundGroups(Schedule& schedule, const ConvSite& site,
                                           const ConvTiles& tiles, const std::string& blocks)
{
    const int64_t count = schedule.extentOf(blocks);
    if (count <= site.shape.groups || count % site.shape.groups != 0)
        return {site.loops.n, blocks, tiles.step};
    const auto groups = schedule.split(blocks, {site.shape.groups, -1});
    return {site.loops.n, groups[0], tiles.step, groups[1]};
}

/// Sums of pairs of 16-bit products in place of dot products.
bool addsPairs(const ConvShape& shape, const TargetFacts& facts)
{
    return hasByteLanes(shape, facts) && !hasByteDots(facts);
}

/// The same on x86.
bool multipliesQuads(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.weights->dtype == kInt32 && addsPairsOfHalves(facts);
}

TargetFacts tileFacts(const ConvShape& shape, TargetFacts facts)
{
    if (!hasByteLanes(shape, facts)) return facts;
    facts.hasLaneOperand = true;
    facts.vectorRegisters -= registersOfByteInputs(facts);
    return facts;
}

ConvTiles tilesOf(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                  const TileWalk& walk, const TargetFacts& facts)
{
    const int64_t positions = walk.tile.positions;
    if (walk.walk == Walk::Image) return tilePositions(schedule, loops, shape, walk, facts);
    if (walk.walk == Walk::Steps) return tileRows(schedule, loops, shape, walk, facts);
    const auto columns = schedule.splitOverlap(loops.column, positions);
    return ConvTiles{.row = loops.row, .tiles = columns[0], .positions = columns[1]};
}

/// Runs of tiles that overlap would write the same elements on two threads, so one thread takes
/// them all: where positions are to be shared, a tile that divides them is faster, unless small.
RegisterTile tileOf(TileSpace space, bool sharesPositions, const TargetFacts& facts)
{
    const double enoughSums = facts.vectorMacs() * facts.sumLatency;
    const RegisterTile tile = chooseTile(space, facts);
    if (!sharesPositions || facts.threads < 2 || space.positions % tile.positions == 0) return tile;
    space.isDivided = true;
    const RegisterTile divided = chooseTile(space, facts);
    const auto sums = static_cast<double>(divided.vectors * divided.positions);
    return sums >= enoughSums ? divided : tile;
}

/// How the weights pass over the data.
struct WeightPasses
{
    bool byStep;       ///< all of them over one step before the next begins
    bool sharesBlocks; ///< so, and each thread takes a share of the blocks
    bool isOnce;       ///< each block over all data
    bool isOfGroup;    ///< so, over that of its own group, a few rows at a time
};

WeightPasses passesOf(const ConvSite& site, const TileWalk& walk, int64_t blocks,
                      const TargetFacts& facts)
{
    const ConvShape& shape = site.shape;
    const bool isLarge = readsWeightsOnce(shape, facts);
    const bool isRow = walk.walk == Walk::Steps && shape.rows == 1;
    const bool sharesPositions =
        isRow ? runsOfRow(shape, walk.tile.positions, facts) > 1 : walk.walk == Walk::Steps;
    const bool isDivided = blocks % int64_t{facts.threads} == 0;
    const bool byStep = (isLarge || isRow) && walk.walk != Walk::Rows && site.loops.part.empty() &&
                        (sharesPositions || isDivided) && leavesCache(shape, walk.tile, facts);
    // No other block reads the data of a group, which may wait in the first-level cache for its.
    const bool isOfGroup = shape.groups > 1 && walk.walk == Walk::Steps && !isRow && !byStep;
    // Tiles of a joined image, or of a row, overlap: threads share blocks of weights there.
    return {byStep, byStep && !sharesPositions && facts.threads > 1,
            isOfGroup || (isLarge && !byStep), isOfGroup};
}

} // namespace

bool mayLeaveRest(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.vectors == 1 && shape.outBlocks > 1 && shape.groups == 1 &&
           shape.weights->dtype == kFloat32 && !facts.hasLaneOperand;
}

RegisterTile convTile(const ConvShape& shape, int64_t columns, Walk walk, const TargetFacts& facts)
{
    // LLVM keeps three loads of copied pairs ahead: of 18 sums it moved half in every step. Where
    // each load is of one vector of sums alone, it keeps all of them ahead.
    constexpr int64_t kMostPairsOfOne = 8;
    const bool isByOne = !shape.isPointwise && shape.vectors != 3 && shape.vectors % 2 == 1;
    const int64_t positions = walk == Walk::Image ? columns : columns * shape.rows;
    const bool hasRest = mayLeaveRest(shape, facts);
    return tileOf(
        {.vectors = hasRest ? shape.outBlocks : shape.vectors,
         .positions = columns,
         .vectorBytes = positions > kFewPositions ? shape.weightBytes / shape.outBlocks : 0,
         .positionsUpTo = !addsPairs(shape, facts) ? 0
                          : isByOne                ? std::min(kMostPairsOfOne, mostPairs(facts))
                                                   : mostPairs(facts),
         .hasRest = hasRest,
         .arePositionsTogether = addsPairs(shape, facts),
         .weightRegisters = addsPairs(shape, facts) ? registersOfPairs(facts) : 1,
         .areQuads = multipliesQuads(shape, facts)},
        walk == Walk::Image && !readsWeightsOnce(shape, facts), tileFacts(shape, facts));
}

ConvNest tileConvolution(Schedule& schedule, const std::string& conv, const ConvSite& site,
                         Walk walk, const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    const RegisterTile tile = tileOfSums(shape, schedule.extentOf(loops.column), walk, facts);
    const auto blocks = schedule.split(loops.outBlock, {-1, tile.vectors});
    const auto [passesByStep, sharesBlocks, weightsFirst, isOfGroup] =
        passesOf(site, {walk, tile}, schedule.extentOf(blocks[0]), facts);
    auto tiles = tilesOf(schedule, loops, shape, {walk, tile, passesByStep}, facts);
    const auto reduction = splitReduction(schedule, loops, shape, facts);

    if (weightsFirst && !isOfGroup && walk == Walk::Steps && shape.rows > 1)
        shareRows(schedule, shape, tiles, facts);
    std::vector<std::string> outer =
        isOfGroup      ? loopsAroundGroups(schedule, site, tiles, blocks[0])
        : sharesBlocks ? loopsAroundSteps(schedule, loops, tiles, blocks[0], facts)
                       : loopsAround(loops, tiles, blocks[0], weightsFirst);
    std::vector<std::string> order = outer;
    order.insert(order.end(), {tiles.row, tiles.tiles});
    order.insert(order.end(), reduction.loops.begin(), reduction.loops.end());
    order.insert(order.end(), {tiles.positions, blocks[1], loops.lane});
    std::erase(order, "");
    const bool readsWeightsOften = !weightsFirst && !sharesBlocks && !tiles.step.empty();
    if (readsWeightsOften) outer.pop_back();
    if (!tiles.share.empty() || sharesBlocks) outer.resize(2);
    if (isOfGroup) outer.resize(3);
    schedule.reorder(order);

    initialiseTile(schedule, conv, reduction.loops[0], 3, shape.lanes);
    const auto left = attachEpilogue(schedule, conv, tiles.tiles, shape.lanes);
    if (!reduction.unrolled.empty()) schedule.unroll(reduction.unrolled);
    if (!reduction.blocks.empty()) schedule.unroll(reduction.blocks);
    const TileLoops inside{tiles.positions, blocks[1], loops.lane};
    unrollSums(schedule, conv, shape, inside, facts);
    streamImage(schedule, shape.data, facts);
    const bool padsByShare =
        (weightsFirst && !isOfGroup) || tiles.step.empty() || tiles.stepsOverlap;
    return ConvNest{.outer = outer,
                    .blocks = readsWeightsOften ? blocks[0] : "",
                    .left = left,
                    .padLoop = padsByShare ? tiles.share : tiles.step,
                    .rereadsWeights = passesByStep};
}

} // namespace tenon::compiler
