// SPDX-License-Identifier: Apache-2.0
// Register tiles by a small cost model: multiply-adds, loads and latency of one step.
#include "compiler/schedule/rules/register_tile.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Of such a loop, the unit in which tiles are compared.
constexpr double kInstructionsPerCycle = 2;

/// Of loads behind longer products, or of products behind longer loads, the share that costs time.
/// A core that begins one instruction at a time does not load while it multiplies; in one that
/// begins two, a load takes the place of what else the loop needs: of tiles alike by products, the
/// one with fewer loads (SqueezeNet on a Cortex-A7: 3.7 % fewer instructions).
double seenOfHidden(const TargetFacts& facts)
{
    if (facts.issueWidth <= 1) return 1;
    return facts.issueWidth <= 2 ? 1.0 / 8 : 0;
}

/// Loads that begin in one cycle beside products. Of two, loops that fill 16 registers get three
/// quarters: operands that are late leave their turn unused (Zen 3, 3 x 3 by twos of 128 to 256
/// channels at 13 x 13: 14 loads for 13 products 62 % of the peak, 7 for 10 97).
double loadsBesideProducts(const TargetFacts& facts)
{
    const double most = facts.vectorLoads();
    return most > 1 && !hasLargeTiles(facts) ? most * 3 / 4 : most;
}

/// Columns of tiles that one thread computes, per product.
double columnsOf(const RegisterTile& tile, const TileSpace& space, const TargetFacts& facts)
{
    const int64_t columns = (space.vectors + tile.vectors - 1) / tile.vectors;
    if (space.products == 0 || facts.threads < 2) return static_cast<double>(columns);
    const int64_t threads = facts.threads;
    const bool divides = space.vectors % tile.vectors == 0; // else only whole products are shared
    const int64_t shared = space.products * (divides ? columns : 1);
    const int64_t most = (shared + threads - 1) / threads * (divides ? 1 : columns);
    return static_cast<double>(most * threads) / static_cast<double>(space.products);
}

/// Positions of so many vectors that fit the registers.
int64_t roomOf(int64_t vectors, const TileSpace& space, const TargetFacts& facts)
{
    // An input may be an operand in memory, but LLVM loads it all the same when several products
    // use it. Where the loop is rolled, the sum that is one too many moves behind the products of
    // the others. Of several steps in one iteration two sums move at each, and the next product
    // waits for them (AMD Zen 5, 4 x 7 sums: 1.05 to 1.3 times as long as 2 x 13 at 7 x 7 pixels).
    const bool isInputInMemory = facts.hasEmbeddedBroadcast && space.isRolled;
    // Magnitudes of an input, ones that add up pairs, and a product; or an input and two products.
    if (space.areQuads || space.arePairs) return (facts.vectorRegisters - vectors - 4) / vectors;
    if (space.areHalves) return (2 * (facts.vectorRegisters - 2) - vectors) / (2 * vectors + 1);
    if (space.areInputsHeld) return (facts.vectorRegisters - 2) / (vectors + 1);
    if (!space.arePositionsTogether) return mostPositions(vectors, facts, isInputInMemory);
    // Where inputs of a step lie side by side, three registers hold those in use.
    return (facts.vectorRegisters - vectors * space.weightRegisters - 3) / vectors;
}

/// Instructions for a sum and for an input of a step.
struct StepCounts
{
    double perSum, perInput;
};

/// Of four bytes without dot products: signs, products, their pairs and the sum.
constexpr StepCounts kOfQuads{4, 2};

/// Of a pair: a product, its sum, and where no instruction has three operands, copies.
StepCounts countsOfPairs(const TargetFacts& facts)
{
    return facts.vectorBytes > 16 ? StepCounts{2, 1} : StepCounts{3, 2};
}

double countedCycles(const RegisterTile& tile, const StepCounts& counts, const TargetFacts& facts)
{
    const auto vectors = static_cast<double>(tile.vectors);
    const auto positions = static_cast<double>(tile.positions);
    const double instructions =
        counts.perSum * vectors * positions + vectors + counts.perInput * positions;
    return std::max(instructions / facts.vectorPipes, facts.sumLatency);
}

/// Cycles of one reduction step for all tiles.
double costOf(const RegisterTile& tile, const TileSpace& space, const TargetFacts& facts)
{
    double step = space.areQuads   ? countedCycles(tile, kOfQuads, facts)
                  : space.arePairs ? countedCycles(tile, countsOfPairs(facts), facts)
                                   : stepCycles(tile, facts, space.inputLoads);
    // Of the second-level cache's rate, what a loop gets that multiplies meanwhile (2,048 channels
    // at 8 x 8 pixels on Zen 3: 66 % of the peak by 4 x 2 sums, which would take all of that rate,
    // 77 % by 2 x 6).
    constexpr double kOfRate = 2.0 / 3;
    if (tile.vectors * space.vectorBytes > facts.l1Bytes)
        step = std::max(step, static_cast<double>(tile.vectors) * facts.vectorBytes /
                                  (kOfRate * facts.l2BytesPerCycle));
    // Rows of pixels begin anywhere in a line, which makes one line more, and are too far apart to
    // be foreseen (116 channels at 14 x 14 pixels on Zen 5: 17.6 cycles for 3 x 7 sums, 9.2 for
    // 8 x 2).
    if ((tile.positions + 1) * space.positionBytes > facts.l1Bytes)
        step = std::max(step, static_cast<double>((tile.positions + 1) * facts.vectorBytes) /
                                  (kOfRate * facts.l2BytesPerCycle));
    const int64_t rows = (space.positions + tile.positions - 1) / tile.positions;
    // A quarter of a cycle per tile and step stands for what no tile hides: loop control and the
    // tail of the epilogue.
    return columnsOf(tile, space, facts) * static_cast<double>(rows) * (step + 0.25);
}

/// The same where the last tile has the vectors that are left.
double costWithRest(const RegisterTile& tile, TileSpace space, const TargetFacts& facts)
{
    const int64_t rest = space.hasRest ? space.vectors % tile.vectors : 0;
    if (rest == 0) return costOf(tile, space, facts);
    space.vectors -= rest;
    const double whole = costOf(tile, space, facts);
    space.vectors = rest;
    return whole + costOf({rest, tile.positions}, space, facts);
}

/// Rows of a left side of so many floats each that a tile may read side by side. Rows that are
/// apart by whole ways of the first-level cache share one of its sets, which holds eight lines in
/// most processors, one of them for the right side (2048 elements on an AMD EPYC with AVX-512: 14
/// rows 76 %, 7 rows 90 % of what the core computes); 0: any.
int64_t mostRowsOf(int64_t depth)
{
    constexpr int64_t kWayBytes = 4096, kLinesOfSet = 8;
    return depth * 4 % kWayBytes == 0 ? kLinesOfSet - 1 : 0;
}

} // namespace

double stepCycles(const RegisterTile& tile, const TargetFacts& facts, int64_t inputLoads)
{
    const auto vectors = static_cast<double>(tile.vectors);
    const auto positions = static_cast<double>(tile.positions);
    const double sums = vectors * positions;
    if (!facts.hasLaneOperand) {
        const double products = sums / facts.vectorMacs();
        const double loads =
            (vectors + positions * static_cast<double>(inputLoads)) / loadsBesideProducts(facts);
        const double hidden = std::min(products, loads);
        return std::max(std::max(products, loads) + hidden * seenOfHidden(facts), facts.sumLatency);
    }
    // Weights come in pairs and inputs four steps at once where lanes are operands; what counts is
    // how many instructions there are, also where products alone take longer: of tiles that are
    // alike by those, the one with fewer loads (BERT on a Cortex-A72: 5.6 % fewer instructions).
    const double perPosition = inputLoads == 1 ? 0.25 : static_cast<double>(inputLoads);
    const double instructions = sums + vectors / 2 + positions * perPosition;
    return std::max(instructions / kInstructionsPerCycle, facts.sumLatency);
}

int64_t mostPositions(int64_t vectors, const TargetFacts& facts, bool isInputInMemory)
{
    // Four steps of inputs live beside the sums, and two pairs of weights.
    if (facts.hasLaneOperand) return (facts.vectorRegisters - 4) / (vectors + 1);
    // The weights live beside the sums, and a broadcast input where it cannot be a memory operand;
    // cores that begin one load in a cycle load two ahead (1 x 14 sums stored sums in between on an
    // ARMv7: a TCN took 1.23 times as many instructions). Those that begin two load one ahead,
    // which tiles of several vectors have room for: 1 x 14 sums stored ten in between on AVX2 (3 x
    // 3 in groups of 8 channels on Zen 4: 1.05 to 1.17 times as long as 1 x 13).
    const bool loadsAhead = facts.loads < 2 && facts.vectorBytes == 16;
    const bool isTight = facts.loads >= 2 && facts.vectorBytes >= 16 && facts.vectorRegisters <= 16;
    const int64_t ahead = loadsAhead ? 2 : vectors == 1 && isTight ? 1 : 0;
    const int64_t inputs = isInputInMemory ? 0 : 1 + ahead;
    return (facts.vectorRegisters - vectors - inputs) / vectors;
}

RegisterTile chooseTile(const TileSpace& space, const TargetFacts& facts)
{
    RegisterTile best;
    double bestCost = 1e300;
    for (int64_t v = 1; v <= space.vectors; ++v) {
        const bool divides =
            space.overlapUpTo > 0 ? v <= space.overlapUpTo : space.vectors % v == 0;
        if (!divides && !space.hasRest) continue;
        int64_t room = roomOf(v, space, facts);
        if (space.positionsUpTo > 0) room = std::min(room, space.positionsUpTo);
        for (int64_t p = 1; p <= std::min(room, space.positions); ++p) {
            if (space.isDivided && space.positions % p != 0) continue;
            const double cost = costWithRest({v, p}, space, facts);
            // Of equal tiles the one of more vectors reads longer runs of weights: 4 x 7 is 2-7 %
            // faster than 2 x 14 at 14 and 7 columns.
            if (cost > bestCost + 1e-9) continue;
            best = {v, p};
            bestCost = cost;
        }
    }
    return best;
}

int64_t blocksPerGroup(int64_t blocks, int64_t columns, int64_t weightBytes,
                       const TargetFacts& facts)
{
    if (facts.hasLaneOperand) return 1;
    const RegisterTile tile = chooseTile({.vectors = blocks,
                                          .positions = columns,
                                          .vectorBytes = weightBytes / blocks,
                                          .hasRest = true},
                                         facts);
    return blocks % tile.vectors == 0 ? tile.vectors : 1;
}

bool canShareRows(int64_t rows, const TargetFacts& facts)
{
    constexpr int64_t kFewest = 4, kMost = 14; // rows of a tile that keeps the core busy
    const int64_t threads = facts.threads;
    if (threads < 2 || rows % threads != 0) return false;
    for (int64_t each = kFewest; each <= kMost; ++each)
        if (rows / threads % each == 0) return true;
    return false;
}

double stepCyclesOfAll(const TileSpace& space, const TargetFacts& facts)
{
    return costWithRest(chooseTile(space, facts), space, facts);
}

TileSpace spaceOfProduct(int64_t vectors, int64_t rows, int64_t depth, const TargetFacts& facts)
{
    return {.vectors = vectors,
            .positions = rows,
            .products = 1,
            .vectorBytes = depth * facts.vectorBytes,
            .positionsUpTo = mostRowsOf(depth)};
}

RegisterTile chooseProductTile(const TileSpace& space, TargetFacts facts)
{
    // Each element of the left side is multiplied with several vectors: it takes a register. Where
    // the tile leaves none, sums go through the stack (Sapphire Rapids, 28 + 4 registers: 142
    // against 170 GFLOP/s).
    facts.hasEmbeddedBroadcast = false;
    return chooseTile(space, facts);
}

} // namespace tenon::compiler
