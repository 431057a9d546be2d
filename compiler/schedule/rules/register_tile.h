// SPDX-License-Identifier: Apache-2.0
// Choice of a register tile: how many output vectors and positions one inner loop accumulates.
#pragma once

#include "core/target/target_facts.h"

#include <cstdint>

namespace tenon::compiler {

using namespace core;

/// `vectors` x `positions` accumulators; each step loads `vectors` weights and broadcasts
/// `positions` inputs.
struct RegisterTile
{
    int64_t vectors = 1;
    int64_t positions = 1;
};

/// What a tile is chosen for.
struct TileSpace
{
    int64_t vectors;
    int64_t positions;         ///< the last tile may overlap the one before
    int64_t overlapUpTo = 0;   ///< tiles of at most so many vectors may overlap too; 0: they divide
    int64_t products = 0;      ///< of this shape whose columns of tiles threads share; 0: none does
    int64_t vectorBytes = 0;   ///< weights of a vector, read again for each row of tiles; 0: few
    int64_t positionBytes = 0; ///< inputs of a position, read again by each tile; 0: few
    int64_t inputLoads = 1;    ///< of one position in each step
    int64_t positionsUpTo = 0; ///< of one tile; 0: as many as fit
    bool isDivided = false;    ///< no tile overlaps the one before: threads share runs of them
    bool hasRest = false;      ///< the last tile may have fewer vectors
    bool arePositionsTogether = false; ///< a step's inputs lie side by side
    int64_t weightRegisters = 1;       ///< that a vector of weights takes there
    bool areHalves = false; ///< weights and inputs have half the bits of sums: two share a register
    bool areInputsHeld = false; ///< by registers, while weights are used one by one
    bool isRolled = false;      ///< the innermost loop adds one product to each sum
    bool areQuads = false;      ///< sums of four products of bytes take several instructions
    bool arePairs = false;      ///< products come in pairs, which another instruction adds to a sum
};

/// Of products of bytes where lanes are operands: registers that inputs take, four at a time, or
/// copies of two for pairs of products; and positions of pairs that are kept ahead. Of 16
/// registers, LLVM stores sums in between where a step has more than six (24 results of 16 channels
/// on a Cortex-A7: 1.6 times as many instructions).
constexpr int registersOfByteInputs(const TargetFacts& facts) { return facts.vectorRegisters / 4; }
constexpr int64_t mostPairs(const TargetFacts& facts)
{
    return facts.vectorRegisters >= 32 ? 16 : 6;
}

/// That hold the two pairs of a vector of weights: each is half a register, which is one of ARMv7.
constexpr int64_t registersOfPairs(const TargetFacts& facts)
{
    return facts.vectorRegisters >= 32 ? 2 : 1;
}

/// More than 16 registers, whose tiles have twice as many products for what they read.
constexpr bool hasLargeTiles(const TargetFacts& facts) { return facts.vectorRegisters > 16; }

/// Steps of a sum of floats that one iteration takes: four read neighbours; where lanes are
/// operands those are short, and eight have half as much loop control (of 24 sums it was 4 %).
constexpr int64_t stepsTogether(const TargetFacts& facts) { return facts.hasLaneOperand ? 8 : 4; }

/// The same of a block of so many inputs: all of up to eight. A loop of two steps inside of the one
/// over blocks costs more than its instructions (Zen 3, 1 x 1: 2,048 to 320 channels at 8 x 8
/// positions 76 % of what the core computes by two loops of four, 91 % by one of eight).
constexpr int64_t stepsOfBlock(int64_t inputs, const TargetFacts& facts)
{
    constexpr int64_t kWhole = 8;
    return inputs <= kWhole ? inputs : stepsTogether(facts);
}

/// Cycles of one reduction step of a tile: of its products, its loads (`inputLoads` of each
/// position) or the latency of its sums.
double stepCycles(const RegisterTile& tile, const TargetFacts& facts, int64_t inputLoads = 1);
/// Positions of `vectors` sums each that fit the registers; an input that is in memory takes none.
int64_t mostPositions(int64_t vectors, const TargetFacts& facts, bool isInputInMemory = false);
/// Cheapest tile that fits the registers, and leaves as much work for each thread.
RegisterTile chooseTile(const TileSpace& space, const TargetFacts& facts);
/// Blocks of channels, of one vector each, that a convolution of rows computes together for what
/// reads them group by group: those of a tile where it divides them, else one.
int64_t blocksPerGroup(int64_t blocks, int64_t columns, int64_t weightBytes,
                       const TargetFacts& facts);

/// Of a product of matrices: so many vectors of columns, rows and steps of floats.
TileSpace spaceOfProduct(int64_t vectors, int64_t rows, int64_t depth, const TargetFacts& facts);
/// The cheapest tile of one, each of whose inputs is multiplied with several vectors.
RegisterTile chooseProductTile(const TileSpace& space, TargetFacts facts);
/// Rows enough of a product read columns of a matrix to copy those side by side before.
constexpr bool copiesPanels(int64_t rows) { return rows >= 32; }
/// Rows that threads can share where tiles of columns overlap: each one's are tiles of some rows.
bool canShareRows(int64_t rows, const TargetFacts& facts);
/// Cycles of one reduction step of all vectors and positions with that tile.
double stepCyclesOfAll(const TileSpace& space, const TargetFacts& facts);

} // namespace tenon::compiler
